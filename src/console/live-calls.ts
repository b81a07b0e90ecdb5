import type { ServerResponse } from 'node:http'

/** Whoever has calls open: a session, or a token. */
export interface Holder {
  key: string
  /** Until when it may do what it does: milliseconds since the epoch, as far as is known. */
  until: number
  /** The same as it is now; 0: it may no longer. */
  recheck(): Promise<number>
}

interface Call {
  holder: Holder
  until: number
  ending: AbortController
  response: ServerResponse
}

/** Of one holder; a browser opens six at most, and several pages may be open. */
const mostOfOne = 48
/** For what changes without anybody saying so here. */
const recheckEveryMs = 30_000
/** How long a call that was told to end may take for its last words. */
const lastWordsMs = 1000

/** The calls that are open, so that they end when what they were let in with does. */
export class LiveCalls {
  readonly #calls = new Set<Call>()
  #timer: NodeJS.Timeout | undefined

  /** The signal fires when the call must end; null: this holder has too many open already. */
  open(holder: Holder, response: ServerResponse): AbortSignal | null {
    if ([...this.#calls].filter((call) => call.holder.key === holder.key).length >= mostOfOne) return null
    const call = { holder, until: holder.until, ending: new AbortController(), response }
    this.#calls.add(call)
    response.once('close', () => this.#forget(call))
    this.#schedule()
    return call.ending.signal
  }

  /** Ends what is no longer let in. A store that does not answer ends nothing before its time. */
  async recheck(): Promise<void> {
    await Promise.all(
      [...this.#calls].map(async (call) => {
        call.until = await call.holder.recheck().catch(() => call.until)
        if (call.until <= Date.now()) end(call)
      }),
    )
    this.#schedule()
  }

  endAll(): void {
    for (const call of this.#calls) end(call)
  }

  #forget(call: Call): void {
    this.#calls.delete(call)
    if (this.#calls.size === 0) clearTimeout(this.#timer)
  }

  /** The next look: in a while, or at the very moment when somebody's time is over. */
  #schedule(): void {
    clearTimeout(this.#timer)
    const running = [...this.#calls].filter(({ ending }) => !ending.signal.aborted)
    if (running.length === 0) return
    const soonest = Math.min(...running.map(({ until }) => until - Date.now()))
    this.#timer = setTimeout(() => void this.recheck(), Math.max(1, Math.min(recheckEveryMs, soonest))).unref()
  }
}

function end({ ending, response }: Call): void {
  if (ending.signal.aborted) return
  ending.abort()
  const timer = setTimeout(() => response.destroy(), lastWordsMs).unref()
  response.once('close', () => clearTimeout(timer))
}
