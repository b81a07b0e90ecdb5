import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { AuthFault, callAuth } from '../../client/http.ts'
import { Button } from '../../parts/index.ts'
import { refreshSession } from '../../session/session.ts'
import { SignInFault } from './password-form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

const route = getRouteApi('/link/$token')

/**
 * A link made on the machine. It is good once, so it takes a press: what looks at links on its own (mail scanners, chat
 * previews) must not use it up.
 */
export function LinkPage() {
  const { token } = route.useParams()
  const navigate = useNavigate()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const enter = async () => {
    setBusy(true)
    setError(null)
    try {
      await callAuth('/auth/link', { token })
      await refreshSession()
      await navigate({ to: '/', replace: true })
    } catch (reason) {
      setError(reason)
    } finally {
      setBusy(false)
    }
  }
  return (
    <SignInFrame title="Sign in with a link">
      {error === null ? <p>This link signs you in once, in this browser.</p> : <SignInFault error={error} />}
      {/* A link that was refused is refused for good; its fault says what to do. */}
      {error instanceof AuthFault ? null : (
        <Button variant="primary" busy={busy} onClick={() => void enter()}>
          {error === null ? 'Sign in' : 'Try again'}
        </Button>
      )}
      <p className="small">
        <Link to="/sign-in">Sign in with a password instead</Link>
      </p>
    </SignInFrame>
  )
}
