import { useEffect, useRef } from 'react'
import { useLive } from '../live/live.ts'
import { FaultNotice } from '../parts/fault-notice.tsx'
import { forgetFailedLoads } from './lazy-page.ts'

/** In place of a page that failed, also because its script could not be loaded: tried again when the gateway is back. */
export function PageFault({ error, reset }: { error: unknown; reset(): void }) {
  const retry = () => {
    forgetFailedLoads()
    reset()
  }
  const connected = useLive().state !== 'disconnected'
  const was = useRef(connected)
  useEffect(() => {
    if (connected && !was.current) {
      forgetFailedLoads()
      reset()
    }
    was.current = connected
  }, [connected, reset])
  return (
    <div className="page">
      <FaultNotice error={error} onRetry={retry} />
    </div>
  )
}
