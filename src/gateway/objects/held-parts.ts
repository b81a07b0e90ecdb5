import { randomUUID } from 'node:crypto'
import type { HeldInput } from '../../core/objects/batch-input.ts'
import type { PartAnswer, UploadPart } from '../../core/objects/object-question.ts'
import type { Asker } from '../../core/objects/stored-object.ts'
import type { Arrival } from '../request/arrival.ts'

/** The lifetime of the URL at which an upload continues. */
const lifeMs = 24 * 60 * 60 * 1000
/**
 * Bounds what each part writes to PostgreSQL in relation to its size: otherwise a client that sends byte by byte could write a long line
 * again and again. Gemini's parts have at least 256 KiB, and lines at most 4 MiB.
 */
const mostTimes = 16
const short = 64 * 1024
const lineFeed = Buffer.from('\n')

/**
 * What was read of an upload in its earlier calls, and what follows. The store thread keeps it, or PostgreSQL if nodes share it. There it
 * is sealed, since it contains the client's text.
 */
export class HeldParts {
  readonly #arrival: Arrival
  readonly #scope: Asker
  readonly #part: Pick<UploadPart, 'name' | 'call' | 'projectId'>
  #isShared = false
  #from = 0

  /** `name`: the upload's. */
  constructor(arrival: Arrival, scope: Asker, name: string) {
    this.#arrival = arrival
    this.#scope = scope
    this.#part = { name, call: randomUUID(), projectId: scope.projectId }
  }

  /** null: what came before that byte is not completely known. */
  async take(offset: number): Promise<{ held: HeldInput | null } | null> {
    const { known, held } = await this.#ask(0, () => ({ ...this.#part, step: 'take', offset, held: null }))
    if (!known) return null
    if (!(held instanceof Uint8Array)) return { held }
    this.#isShared = true
    this.#from = offset
    // Nothing is sealed yet only before the first part.
    if (offset === 0 && held.length === 0) return { held: null }
    const opened = this.#open(Buffer.from(held.buffer, held.byteOffset, held.length), offset)
    return opened && { held: opened }
  }

  /** The provider has taken this part. `held` null: it was the last one. False: another call continued the upload as well. */
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

  /** Nothing of this part was sent, so another call may continue at the same byte. */
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

  /** null: not sealed by this gateway, or of another upload, or of an earlier part. */
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
