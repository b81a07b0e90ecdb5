import type { ServerResponse } from 'node:http'

/** The session or token behind open calls. */
export interface CallHolder {
  key: string
  /** When its permission ends, as far as known: milliseconds since the epoch. */
  until: number
  /** The current value of `until`; 0: no longer permitted. */
  recheck(): Promise<number>
}

interface LiveCall {
  holder: CallHolder
  until: number
  abort: AbortController
  response: ServerResponse
}

/** A browser opens six at most, and several pages may be open. */
const maxPerHolder = 48
/** For changes that nobody reports here. */
const recheckEveryMs = 30_000
/** How long the store may take to say what is still permitted. */
const recheckMs = 1000
/** How long an aborted call may take to send its last event. */
const abortGraceMs = 1000

/** Open calls: each ends when its session or token does. */
export class LiveCalls {
  readonly #calls = new Set<LiveCall>()
  #timer: NodeJS.Timeout | undefined

  /** The signal fires when the call must end; null: this holder has too many open calls. */
  open(holder: CallHolder, response: ServerResponse): AbortSignal | null {
    if ([...this.#calls].filter((call) => call.holder.key === holder.key).length >= maxPerHolder) return null
    const call = { holder, until: holder.until, abort: new AbortController(), response }
    this.#calls.add(call)
    response.once('close', () => this.#forget(call))
    this.#schedule()
    return call.abort.signal
  }

  /** Ends calls that are no longer permitted. If the store does not respond, calls go on until they expire. */
  async recheck(): Promise<void> {
    // Whoever does not know by then may never, and nothing goes on for longer than was permitted.
    const limit = setTimeout(() => this.#endExpired(), recheckMs).unref()
    await Promise.all(
      [...this.#calls].map(async (call) => {
        call.until = await call.holder.recheck().catch(() => call.until)
      }),
    )
    clearTimeout(limit)
    this.#endExpired()
  }

  #endExpired(): void {
    for (const call of this.#calls) if (call.until <= Date.now()) abortCall(call)
    this.#schedule()
  }

  endAll(): void {
    for (const call of this.#calls) abortCall(call)
  }

  #forget(call: LiveCall): void {
    this.#calls.delete(call)
    if (this.#calls.size === 0) clearTimeout(this.#timer)
  }

  /** Rechecks after a while, or at the moment when the first call expires. */
  #schedule(): void {
    clearTimeout(this.#timer)
    const running = [...this.#calls].filter(({ abort }) => !abort.signal.aborted)
    if (running.length === 0) return
    const soonest = Math.min(...running.map(({ until }) => until - Date.now()))
    this.#timer = setTimeout(() => void this.recheck(), Math.max(1, Math.min(recheckEveryMs, soonest))).unref()
  }
}

function abortCall({ abort, response }: LiveCall): void {
  if (abort.signal.aborted) return
  abort.abort()
  const timer = setTimeout(() => response.destroy(), abortGraceMs).unref()
  response.once('close', () => clearTimeout(timer))
}
