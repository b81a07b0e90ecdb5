import { CloudOff } from 'lucide-react'
import { useEffect, useState } from 'react'
import { refreshMissed } from '../client/queries.ts'
import { reconnectLive, useLive } from '../live/live.ts'
import { Button } from '../parts/button.tsx'
import { Time } from '../parts/values.tsx'

/** A restart takes about as long. */
const quietMs = 1500

/** While the gateway does not answer: what is on the page stays, and says how old it is. */
export function AwayBanner() {
  const { state, heardAt } = useLive()
  const away = state === 'disconnected' && heardAt !== null
  const [shown, setShown] = useState(false)
  useEffect(() => {
    if (!away) return setShown(false)
    const timer = setTimeout(() => setShown(true), quietMs)
    return () => clearTimeout(timer)
  }, [away])
  if (!shown || !away) return null
  const again = () => {
    reconnectLive()
    void refreshMissed()
  }
  return (
    <div className="away" role="alert">
      <CloudOff size={16} aria-hidden="true" />
      <p className="grow">
        <b>The gateway does not answer.</b> What is shown was read <Time at={new Date(heardAt).toISOString()} />, and
        the rest is missing. The console connects again by itself.
      </p>
      <Button small onClick={again}>
        Retry now
      </Button>
    </div>
  )
}
