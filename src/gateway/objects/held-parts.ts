import { randomUUID } from 'node:crypto'
import type { Asker, HeldInput, PartAnswer, UploadPart } from '../../core/stored-object.ts'
import type { Arrival } from '../request/arrival.ts'

/** As long as the URL is good at which an upload goes on. */
const lifeMs = 24 * 60 * 60 * 1000
/**
 * What each part brings to PostgreSQL is at most so often as long as itself, or short: else bytes one by one could write a long line that
 * often. Parts of Gemini's have 256 KiB or more, and lines 4 MiB or less.
 */
const mostTimes = 16
const short = 64 * 1024
const lineFeed = Buffer.from('\n')

/**
 * What was seen of an upload before one of its calls, and from then on. It is with the store's thread, or in PostgreSQL where nodes share
 * it: there it is sealed, since it is a client's text.
 */
export class HeldParts {
  readonly #arrival: Arrival
  readonly #scope: Asker
  readonly #part: Pick<UploadPart, 'name' | 'call' | 'projectId'>
  #isShared = false
  #from = 0

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
    if (!(held instanceof Uint8Array)) return { held }
    this.#isShared = true
    this.#from = offset
    // Only of the first part nothing is sealed.
    if (offset === 0 && held.length === 0) return { held: null }
    const opened = this.#open(Buffer.from(held.buffer, held.byteOffset, held.length), offset)
    return opened && { held: opened }
  }

  /** The provider has taken this part. null: it was the last. False: another call went on with the upload as well. */
  async give(held: HeldInput | null): Promise<boolean> {
    if (held !== null && this.#isShared && held.rest.length > Math.max(short, mostTimes * (held.offset - this.#from))) {
      this.#note('a line comes in too many parts')
      return false
    }
    const given = await this.#ask(held?.rest.length ?? 0, () => {
      const kept = held !== null && this.#isShared ? this.#seal(held) : held
      return { ...this.#part, step: 'give', offset: held?.offset ?? 0, held: kept }
    })
    return given.known
  }

  /** Nothing of this part goes up: another call may go on at the same byte. */
  leave(): void {
    const part = { ...this.#part, step: 'leave', offset: 0, held: null } as const
    void this.#arrival.gateway.objects.part(this.#scope, 0, () => part)
  }

  async #ask(bytes: number, make: () => UploadPart): Promise<PartAnswer> {
    const answer = await this.#arrival.gateway.objects.part(this.#scope, bytes, make)
    if ('failed' in answer) {
      this.#note(answer.failed)
      return { known: false, held: null }
    }
    if (!answer.known) this.#note('what came before it is not known, or another call went on with the upload too')
    return answer
  }

  #note(reason: string): void {
    const text = `What this part of the file holds could not be noted (${reason}): no batch can be made of the file.`
    this.#arrival.trace.noteOnce('batch', text)
  }

  #seal({ offset, input, rest }: HeldInput): Uint8Array {
    const payload = Buffer.concat([Buffer.from(JSON.stringify([this.#part.name, offset, input])), lineFeed, rest])
    return this.#arrival.gateway.model.configuration.tokens.sealRaw('upload-part', payload, Date.now() + lifeMs)
  }

  /** null: it is none of ours, or of another upload, or an earlier one. */
  #open(sealed: Buffer, offset: number): HeldInput | null {
    const opened = this.#arrival.gateway.model.configuration.tokens.openRaw('upload-part', sealed, Date.now())
    if (opened.state !== 'open') return null
    const { payload } = opened
    const end = payload.indexOf(lineFeed)
    const [name, at, input] = JSON.parse(payload.toString('utf8', 0, end)) as [string, number, HeldInput['input']]
    if (name !== this.#part.name || at !== offset) return null
    return { offset, input, rest: payload.subarray(end + 1) }
  }
}
