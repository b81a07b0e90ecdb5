import { type FormEvent, Suspense, useState } from 'react'
import { Button, CopyButton, StateBadge } from '../../parts/index.ts'
import { lazyPart } from '../../shell/lazy-page.ts'
import { TextField } from '../sign-in/text-field.tsx'
import { type AccountState, useAccountCall } from './account.ts'

const QrCode = lazyPart(async () => (await import('./qr-code.tsx')).default)

/** A second factor: codes that an authenticator makes from a secret that both sides know. */
export function TotpCard({ account }: { account: AccountState }) {
  const [begun, setBegun] = useState<{ secret: string; uri: string } | null>(null)
  const [code, setCode] = useState('')
  const { busy, send } = useAccountCall()
  const begin = async () => setBegun(await send('/auth/account/totp', {}))
  const confirm = async (event: FormEvent) => {
    event.preventDefault()
    const [path, done] = account.totp
      ? ['/auth/account/totp/remove', 'Authenticator removed']
      : ['/auth/account/totp/confirm', 'Authenticator added. You will be asked for its code when you sign in.']
    if ((await send(path, { code: code.trim() }, done)) === null) return
    setBegun(null)
    setCode('')
  }
  return (
    <section className="card">
      <div className="row card-head">
        <h2>Authenticator</h2>
        <StateBadge state={account.totp ? 'active' : 'not set up'} />
      </div>
      {account.totp || begun !== null ? (
        <form className="form stack" onSubmit={(event) => void confirm(event)}>
          {begun === null ? null : <NewSecret {...begun} />}
          <TextField
            label="Authenticator code"
            inputMode="numeric"
            autoComplete="one-time-code"
            value={code}
            onType={setCode}
          />
          <div>
            <Button variant={account.totp ? 'danger' : 'primary'} type="submit" busy={busy}>
              {account.totp ? 'Remove authenticator' : 'Confirm'}
            </Button>
          </div>
        </form>
      ) : (
        <div className="stack">
          <p className="quiet">Requires a code as well as the password.</p>
          <div>
            <Button busy={busy} onClick={() => void begin()}>
              Set up authenticator
            </Button>
          </div>
        </div>
      )}
    </section>
  )
}

function NewSecret({ secret, uri }: { secret: string; uri: string }) {
  return (
    <div className="row totp-secret">
      <Suspense fallback={<div className="qr-code" />}>
        <QrCode text={uri} />
      </Suspense>
      <div className="stack-tight grow">
        <p>Scan the code with your authenticator app or enter the secret there. It is shown only once.</p>
        <p className="row">
          <code className="breakable">{secret}</code>
          <CopyButton bare text={secret} label="Copy secret" />
        </p>
      </div>
    </div>
  )
}
