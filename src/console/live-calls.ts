import type { ServerResponse } from 'node:http'

/** Whoever has calls open: a session, or a token. */
export interface Holder {
  key: string
  /** Whether it may still do what it could when the call began. */
  isGood(): Promise<boolean>
}

interface Call {
  holder: Holder
  ending: AbortController
  response: ServerResponse
}

/** Of one holder; a browser opens six at most, and several pages may be open. */
const mostOfOne = 48
/** For what ends without anybody doing anything: a session that is over. */
const recheckEveryMs = 30_000
/** How long a call that was told to end may take for its last words. */
const lastWordsMs = 1000

/** The calls that are open, so that they end when what they were let in with does. */
export class LiveCalls {
  readonly #calls = new Set<Call>()
  #timer: NodeJS.Timeout | null = null

  /** The signal fires when the call must end; null: this holder has too many open already. */
  open(holder: Holder, response: ServerResponse): AbortSignal | null {
    if ([...this.#calls].filter((call) => call.holder.key === holder.key).length >= mostOfOne) return null
    const call = { holder, ending: new AbortController(), response }
    this.#calls.add(call)
    response.once('close', () => this.#forget(call))
    this.#timer ??= setInterval(() => void this.recheck(), recheckEveryMs).unref()
    return call.ending.signal
  }

  /** Ends what is no longer let in. A store that does not answer ends nothing. */
  async recheck(): Promise<void> {
    const byHolder = Map.groupBy(this.#calls, (call) => call.holder.key)
    await Promise.all([...byHolder.values()].map((calls) => this.#recheckHolder(calls)))
  }

  endAll(): void {
    for (const call of this.#calls) end(call)
  }

  async #recheckHolder(calls: readonly Call[]): Promise<void> {
    const good = await Promise.all(calls.map(({ holder }) => holder.isGood().catch(() => true)))
    calls.forEach((call, place) => {
      if (good[place] === false) end(call)
    })
  }

  #forget(call: Call): void {
    this.#calls.delete(call)
    if (this.#calls.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }
}

function end({ ending, response }: Call): void {
  if (ending.signal.aborted) return
  ending.abort()
  const timer = setTimeout(() => response.destroy(), lastWordsMs).unref()
  response.once('close', () => clearTimeout(timer))
}
