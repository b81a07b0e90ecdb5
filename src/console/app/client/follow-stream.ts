const longestPauseMs = 15_000

export interface StreamOptions<Item> {
  /** Among all windows of this browser: what is called the same is the same, and opened once. */
  name: string
  /** Whether each item is the whole state, or an event. */
  kind: 'state' | 'events'
  open(signal: AbortSignal): Promise<AsyncIterable<Item>> | AsyncIterable<Item>
  onItem(item: Item): void
  /** It broke off, or could not be opened. Given back is whether it shall be opened again. */
  onLost?(error: unknown): boolean
  /** It is open after a gap: what was pushed meanwhile is to be read. Of events the time before the first opening is one, too. */
  onGap(): void
  retryMs: number
}

/** Listens until the signal fires, again and again where that breaks off. */
export async function followStream<Item>(stream: StreamOptions<Item>, signal: AbortSignal): Promise<void> {
  let pauseMs = stream.retryMs
  // Whoever listens to events has read the past before, and not what came between.
  let lost = stream.kind === 'events'
  const markConnected = () => {
    if (lost) stream.onGap()
    lost = false
  }
  while (!signal.aborted) {
    try {
      const items = await stream.open(signal)
      // The next event may never come, so missed ones are read now.
      if (stream.kind === 'events') markConnected()
      for await (const item of items) {
        if (signal.aborted) return
        markConnected()
        pauseMs = stream.retryMs
        stream.onItem(item)
      }
    } catch (error) {
      if (signal.aborted || stream.onLost?.(error) === false) return
    }
    lost = true
    await pause(pauseMs, signal)
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }
}

export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  // A signal that has fired fires no more.
  if (signal.aborted) return Promise.resolve()
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
