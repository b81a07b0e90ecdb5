import { LogIn } from 'lucide-react'
import { useEffect } from 'react'
import { reconnectLive } from '../live/live.ts'
import { Button } from '../parts/button.tsx'
import { rememberTyping, resumeSession, useEndedSession } from '../session/ended-session.ts'

const resume = () => void resumeSession(reconnectLive).catch(() => {})

/** The session ended while somebody filled in a form: what was typed stays. */
export function EndedBanner() {
  const ended = useEndedSession()
  useEffect(() => {
    document.addEventListener('input', rememberTyping)
    return () => document.removeEventListener('input', rememberTyping)
  }, [])
  useEffect(() => {
    if (!ended) return
    window.addEventListener('focus', resume)
    return () => window.removeEventListener('focus', resume)
  }, [ended])
  if (!ended) return null
  return (
    <div className="away" role="alert">
      <LogIn size={16} aria-hidden="true" />
      <p className="grow">
        <b>Your session has ended.</b> What you typed stays here.{' '}
        <a href="/sign-in" target="_blank" rel="noreferrer">
          Sign in in another tab
        </a>
        , then come back.
      </p>
      <Button small onClick={resume}>
        I have signed in
      </Button>
    </div>
  )
}
