import type { StreamOptions } from './follow-stream.ts'
import { shareStream } from './shared-stream.ts'

/** Keeps a stream open for as long as the page is seen, until what is given back is called. */
export function followWhileVisible<Item>(stream: StreamOptions<Item>): () => void {
  let held: AbortController | null = null
  let opened = false
  const release = () => {
    held?.abort()
    held = null
  }
  const update = () => {
    if (document.hidden) return release()
    if (held !== null) return
    held = new AbortController()
    if (opened) stream.onGap()
    opened = true
    void shareStream(stream, held.signal)
  }
  document.addEventListener('visibilitychange', update)
  // A page that is left may be kept for the way back, with whatever it holds.
  addEventListener('pagehide', release)
  addEventListener('pageshow', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    removeEventListener('pagehide', release)
    removeEventListener('pageshow', update)
    release()
  }
}
