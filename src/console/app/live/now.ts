import { useSyncExternalStore } from 'react'

/** One clock for every age on the page; it stands still while nobody looks. */
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
    // It stood still while nobody listened.
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

/** `read` makes of the time what is shown: a component is drawn anew only when that changes. */
export function useClock<Shown extends string | number>(read: (now: number) => Shown): Shown {
  return useSyncExternalStore(subscribe, () => read(now))
}
