import { useEffect, useState } from 'react'

/** Seconds that are left, and how to begin with some. */
export function useCountdown(): [left: number, begin: (seconds: number) => void] {
  const [left, setLeft] = useState(0)
  useEffect(() => {
    if (left <= 0) return
    const timer = setTimeout(() => setLeft(left - 1), 1000)
    return () => clearTimeout(timer)
  }, [left])
  return [left, (seconds) => setLeft(Math.ceil(seconds))]
}
