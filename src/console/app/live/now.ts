import { useSyncExternalStore } from 'react'

/** One clock for all relative times; it stops while the page is hidden. */
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined
const listeners = new Set<() => void>()

function tick(): void {
  if (document.hidden) return
  now = Date.now()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  if (timer === undefined) {
    // It was stopped without listeners.
    now = Date.now()
    timer = setInterval(tick, 1000)
  }
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** `read` formats the time: a component is redrawn only when the result changes. */
export function useClock<Shown extends string | number>(read: (now: number) => Shown): Shown {
  return useSyncExternalStore(subscribe, () => read(now))
}
