import { Browser, Button, Time } from '../../parts/index.ts'
import { type Account, useAccountCall } from './account.ts'

export function SessionsCard({ account }: { account: Account }) {
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
                {session.current ? 'This one · ' : null}
                {session.method ? `by ${session.method} · ` : null}
                {session.address ? `from ${session.address} · ` : null}
                seen <Time at={session.last_seen_at} />
              </p>
            </div>
            {session.current ? null : (
              <Button
                small
                look="danger"
                busy={busy}
                onClick={() => void send('/auth/account/sessions/revoke', { id: session.id }, 'The session has ended.')}
              >
                End
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}
