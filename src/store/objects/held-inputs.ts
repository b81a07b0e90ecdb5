import type { HeldInput } from '../../core/stored-object.ts'

/** Of lines that have not ended, together; what is older is let go, and such a file is not known. */
const mostBytes = 32 * 1024 * 1024
const mostUploads = 1000

/** `taken`: a call is under way that goes on with it. `lost`: two did, or one left a part out: what the provider has is not known. */
type HeldState = HeldInput | 'taken' | 'lost'

/**
 * Uploads of files that come in several calls, which may come to several threads: here, in memory, is the one place that knows how far each
 * is. A call that is not the only one to go on at its byte makes the file unknown.
 */
export class HeldInputs {
  readonly #uploads = new Map<string, HeldState>()
  #bytes = 0

  /** Null: what came before it is not known. */
  take(session: string, offset: number): HeldInput | null {
    const known = this.#uploads.get(session)
    const held = known === undefined && offset === 0 ? empty() : goesOn(known, offset) ? known : null
    this.#set(session, held === null ? 'lost' : 'taken')
    return held
  }

  hold(session: string, held: HeldInput): void {
    if (this.#uploads.get(session) === 'taken') this.#set(session, held)
  }

  #set(session: string, state: HeldState): void {
    this.#remove(session)
    this.#uploads.set(session, state)
    this.#bytes += sizeOf(state)
    for (const oldest of this.#uploads.keys()) {
      if (this.#bytes <= mostBytes && this.#uploads.size <= mostUploads) return
      this.#remove(oldest)
    }
  }

  #remove(session: string): void {
    const state = this.#uploads.get(session)
    if (state === undefined) return
    this.#bytes -= sizeOf(state)
    this.#uploads.delete(session)
  }
}

function empty(): HeldInput {
  return { offset: 0, input: { lines: 0, models: [], objects: [], unread: null }, rest: new Uint8Array() }
}

function goesOn(state: HeldState | undefined, offset: number): state is HeldInput {
  return typeof state === 'object' && state.offset === offset
}

function sizeOf(state: HeldState): number {
  return typeof state === 'object' ? state.rest.length : 0
}
