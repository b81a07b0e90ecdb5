import { useLive } from '../live/live.ts'

const words = { receiving: 'Live', degraded: 'Degraded', disconnected: 'Reconnecting' } as const

/** Whether what is on the page is what is going on: a sign, a word, and the reason on hover and for screen readers. */
export function LiveLight() {
  const { state, reason } = useLive()
  const explained = reason === null ? 'Changes and requests appear as they happen.' : reason
  return (
    <span className={`live-light live-${state}`} role="status" title={explained}>
      <span className="live-mark" aria-hidden="true" />
      <span className="live-word">{words[state]}</span>
      <span className="visually-hidden">{explained}</span>
    </span>
  )
}
