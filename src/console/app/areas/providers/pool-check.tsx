import { CircleCheck, CircleX } from 'lucide-react'
import { Outside } from '../../parts/index.ts'
import type { Check } from '../outputs.ts'

/** What the provider said to each credential of a pool; of a single one the steps have said it. */
export function PoolCheck({ credentials }: { credentials: Check['credentials'] }) {
  if (credentials.length < 2) return null
  return (
    <ul className="check-list" aria-label="Credentials">
      {credentials.map(({ id, last_four, ok, message }) => (
        <li key={id} className={`check-step check-${ok ? 'done' : 'failed'}`}>
          {ok ? <CircleCheck size={16} aria-hidden="true" /> : <CircleX size={16} aria-hidden="true" />}
          <div className="grow">
            <p>
              Credential <code>{last_four === '' ? id : `…${last_four}`}</code>
              <span className="visually-hidden">: {ok ? 'passed' : 'failed'}</span>
            </p>
            {ok ? null : (
              <p className="small breakable">
                <Outside text={message} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}
