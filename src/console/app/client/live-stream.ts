import type { LiveStream } from './follow.ts'
import { shareStream } from './shared-stream.ts'

/** Keeps a stream open for as long as the page is seen, until what is given back is called. */
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
    void shareStream(stream, held.signal)
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
