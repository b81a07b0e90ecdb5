import { Browser, Button, Time } from '../../parts/index.ts'
import { type AccountState, useAccountCall } from './account.ts'

const methods: Record<string, string> = {
  password: 'Password',
  link: 'Sign-in link',
  passkey: 'Passkey',
  oidc: 'Identity provider',
}

export function SessionsCard({ account }: { account: AccountState }) {
  const { busy, send } = useAccountCall()
  return (
    <section className="card stack">
      <h2>Sessions</h2>
      <ul className="list">
        {account.sessions.map((session) => (
          <li key={session.id} className="list-row">
            <div className="grow">
              <p className="truncate">
                <Browser userAgent={session.user_agent} />
              </p>
              <p className="small quiet">
                {session.current ? 'Current session · ' : null}
                {session.method ? `${methods[session.method] ?? session.method} · ` : null}
                {session.address ? `${session.address} · ` : null}
                Last seen <Time at={session.last_seen_at} />
              </p>
            </div>
            {session.current ? null : (
              <Button
                small
                variant="danger"
                busy={busy}
                onClick={() => void send('/auth/account/sessions/revoke', { id: session.id }, 'Session revoked')}
              >
                Revoke
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
