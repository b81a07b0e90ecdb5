const longestPauseMs = 15_000

export interface LiveStream<Item> {
  open(signal: AbortSignal): Promise<AsyncIterable<Item>> | AsyncIterable<Item>
  hear(item: Item): void
  /** It broke off, or could not be opened. Given back is whether it shall be opened again. */
  lose?(error: unknown): boolean
  /** It is opened after a gap: what was pushed meanwhile is to be read. */
  returned(): void
  firstPauseMs: number
}

/**
 * Keeps a stream open for as long as the page is seen, until what is given back is called. A browser opens six
 * connections to a host over HTTP/1.1, for all of its tabs together: streams of hidden ones would leave none for calls.
 */
export function keepStream<Item>(stream: LiveStream<Item>): () => void {
  let held: AbortController | null = null
  let opened = false
  const release = () => {
    held?.abort()
    held = null
  }
  const look = () => {
    if (document.hidden) return release()
    if (held !== null) return
    held = new AbortController()
    if (opened) stream.returned()
    opened = true
    void follow(stream, held.signal)
  }
  document.addEventListener('visibilitychange', look)
  // A page that is left may be kept for the way back, with whatever it holds.
  addEventListener('pagehide', release)
  addEventListener('pageshow', look)
  look()
  return () => {
    document.removeEventListener('visibilitychange', look)
    removeEventListener('pagehide', release)
    removeEventListener('pageshow', look)
    release()
  }
}

async function follow<Item>(stream: LiveStream<Item>, signal: AbortSignal): Promise<void> {
  let pauseMs = stream.firstPauseMs
  let lost = false
  while (!signal.aborted) {
    try {
      for await (const item of await stream.open(signal)) {
        if (signal.aborted) return
        if (lost) stream.returned()
        lost = false
        pauseMs = stream.firstPauseMs
        stream.hear(item)
      }
    } catch (error) {
      if (signal.aborted || stream.lose?.(error) === false) return
    }
    lost = true
    await pause(pauseMs, signal)
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }
}

export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done)
  })
}
