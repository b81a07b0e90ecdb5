import { useEffect, useRef } from 'react'
import { useLive } from './live.ts'

const leastMs = 5000

/** Calls `refresh` after new requests, at most every five seconds; without traffic never. */
export function useTraffic(refresh: () => void): void {
  const count = useLive().status?.requests_since_start
  const state = useRef({ refresh, count, last: 0, timer: undefined as ReturnType<typeof setTimeout> | undefined })
  state.current.refresh = refresh
  useEffect(() => {
    const now = state.current
    const isFirst = now.count === undefined
    if (count === now.count || count === undefined) return
    now.count = count
    if (isFirst || now.timer !== undefined) return
    const wait = Math.max(0, now.last + leastMs - Date.now())
    now.timer = setTimeout(() => {
      now.timer = undefined
      now.last = Date.now()
      now.refresh()
    }, wait)
  }, [count])
  useEffect(() => {
    const now = state.current
    return () => {
      clearTimeout(now.timer)
      now.timer = undefined
    }
  }, [])
}
