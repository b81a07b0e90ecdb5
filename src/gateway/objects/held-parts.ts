import { randomUUID } from 'node:crypto'
import type { Asker, HeldInput, PartAnswer, UploadPart } from '../../core/stored-object.ts'
import type { Arrival } from '../request/arrival.ts'

/** As long as the URL is good at which an upload goes on. */
const lifeMs = 24 * 60 * 60 * 1000
const lineFeed = '\n'

/**
 * What was seen of an upload before one of its calls, and from then on. It is with the store's thread, or in PostgreSQL where nodes share
 * it: there it is sealed, since it is a client's text.
 */
export class HeldParts {
  readonly #arrival: Arrival
  readonly #scope: Asker
  readonly #part: Pick<UploadPart, 'name' | 'call' | 'projectId'>
  #isShared = false

  /** `name`: of the upload. */
  constructor(arrival: Arrival, scope: Asker, name: string) {
    this.#arrival = arrival
    this.#scope = scope
    this.#part = { name, call: randomUUID(), projectId: scope.projectId }
  }

  /** null: nobody knows all that came before that byte. */
  async take(offset: number): Promise<{ held: HeldInput | null } | null> {
    const { known, held } = await this.#ask(0, () => ({ ...this.#part, step: 'take', offset, held: null }))
    if (!known) return null
    if (typeof held !== 'string') return { held }
    this.#isShared = true
    if (held === '') return { held: null }
    const opened = this.#open(held, offset)
    return opened && { held: opened }
  }

  /** The provider has taken this part. null: it was the last. False: another call went on with the upload as well. */
  async give(held: HeldInput | null): Promise<boolean> {
    const given = await this.#ask(held?.rest.length ?? 0, () => {
      const kept = held !== null && this.#isShared ? this.#seal(held) : held
      return { ...this.#part, step: 'give', offset: held?.offset ?? 0, held: kept }
    })
    return given.known
  }

  async #ask(bytes: number, make: () => UploadPart): Promise<PartAnswer> {
    const answer = await this.#arrival.gateway.objects.part(this.#scope, bytes, make)
    if (!('failed' in answer)) return answer
    const text = `What this part of the file holds could not be noted (${answer.failed}): no batch can be made of the file.`
    this.#arrival.trace.noteOnce('batch', text)
    return { known: false, held: null }
  }

  /** As text of one character a byte: the rest may end within one of the client's. */
  #seal({ offset, input, rest }: HeldInput): string {
    const head = JSON.stringify([this.#part.name, offset, input])
    const payload = head + lineFeed + Buffer.from(rest).toString('latin1')
    return this.#arrival.gateway.model.configuration.tokens.seal('upload-part', payload, Date.now() + lifeMs)
  }

  /** null: it is none of ours, or of another upload, or an earlier one. */
  #open(sealed: string, offset: number): HeldInput | null {
    const opened = this.#arrival.gateway.model.configuration.tokens.open('upload-part', sealed, Date.now())
    if (opened.state !== 'open') return null
    const { payload } = opened
    const end = payload.indexOf(lineFeed)
    const [name, at, input] = JSON.parse(payload.slice(0, end)) as [string, number, HeldInput['input']]
    if (name !== this.#part.name || at !== offset) return null
    return { offset, input, rest: Buffer.from(payload.slice(end + 1), 'latin1') }
  }
}
