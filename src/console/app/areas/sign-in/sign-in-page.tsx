import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Fingerprint } from 'lucide-react'
import { useEffect, useState } from 'react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import type { OidcFailure } from '../../../../core/oidc-failure.ts'
import { Button, Command, FaultNotice } from '../../parts/index.ts'
import { refreshSession, useSession } from '../../session/session.ts'
import { safeNext } from '../../shell/address.ts'
import { Loading } from '../../shell/page.tsx'
import { signInWithPasskey } from './passkey.ts'
import { PasswordForm } from './password-form.tsx'
import { SignInFrame } from './sign-in-frame.tsx'

const route = getRouteApi('/sign-in')

const failureTexts: Record<OidcFailure, (provider: string) => string> = {
  'not-started': () => 'This sign-in was not started here, or took too long. Start it again.',
  'not-configured': () => 'No identity provider is configured. Set console.oidc in config.yaml.',
  unavailable: (provider) =>
    `${provider} did not give a valid answer. See the log of the gateway, and console.oidc.issuer.`,
  unverified: (provider) =>
    `The answer of ${provider} could not be verified. Try again; the log of the gateway says why.`,
  cancelled: (provider) => `${provider} did not let you in. Try again.`,
  'claim-missing': (provider) =>
    `${provider} knows you, but gives you no role here: the claim of console.oidc.role_claim is missing. Ask an owner.`,
  'no-role': (provider) =>
    `${provider} knows you, but gives you no role here: no value of the claim has one in console.oidc.roles. Ask an owner.`,
  disabled: () => 'This operator is disabled. An owner can enable it again.',
  throttled: () => 'Too many failed attempts. Wait, then try again.',
}

/** All sign-in methods that the gateway offers at this address. */
export function SignInPage() {
  const { next, error, ended } = route.useSearch()
  const navigate = useNavigate()
  const session = useSession()
  const [fault, setFault] = useState<unknown>(null)
  const operator = session.data?.operator ?? null
  useEffect(() => {
    if (operator !== null) void navigate({ href: safeNext(next), replace: true })
  }, [operator, next, navigate])
  if (session.isError)
    return (
      <SignInFrame title="Sign in">
        <FaultNotice error={session.error} onRetry={() => void session.refetch()} />
      </SignInFrame>
    )
  if (session.data === undefined) return <Loading />
  const { methods, passkey_refused: passkeyRefused, sign_in_refused: refused } = session.data
  if (refused) return <Refused reason={refused} />
  const withPasskey = async () => {
    setFault(null)
    try {
      await signInWithPasskey()
      await refreshSession()
    } catch (reason) {
      setFault(reason)
    }
  }
  return (
    <SignInFrame title="Sign in">
      {error === undefined ? null : (
        <p className="notice notice-bad breakable">
          {escapeControls(failureTexts[error](methods.oidc?.name ?? 'The identity provider'))}
        </p>
      )}
      {fault === null ? null : <FaultNotice error={fault} />}
      {ended ? (
        <p className="notice" role="status">
          Your session has ended. Sign in to continue.
        </p>
      ) : null}
      <PasswordForm />
      {methods.passkey || methods.oidc !== null ? <p className="sign-in-or quiet small">or</p> : null}
      {methods.passkey ? (
        <Button icon={<Fingerprint size={16} aria-hidden="true" />} onClick={() => void withPasskey()}>
          Use a passkey
        </Button>
      ) : null}
      {methods.oidc === null ? null : (
        <a className="button button-plain" href="/auth/oidc">
          Continue with {escapeControls(methods.oidc.name)}
        </a>
      )}
      {passkeyRefused ? <p className="small quiet">Passkeys: {passkeyRefused}</p> : null}
      <NoWayIn />
    </SignInFrame>
  )
}

function NoWayIn() {
  return (
    <div className="sign-in-help small quiet stack-tight">
      <p>No password yet, or locked out? Run this on the gateway’s machine:</p>
      <Command text="spgw console link" />
    </div>
  )
}

function Refused({ reason }: { reason: string }) {
  const port = location.port === '' ? '8788' : location.port
  return (
    <SignInFrame title="Sign in">
      <div className="notice notice-warning">
        <p>{escapeControls(reason)}</p>
      </div>
      <p>Set up HTTPS, or forward the console’s port to your machine:</p>
      <Command text={`ssh -L ${port}:localhost:${port} ${location.hostname}`} />
      <p className="small quiet">
        Then open <code>http://localhost:{port}</code>
      </p>
    </SignInFrame>
  )
}
