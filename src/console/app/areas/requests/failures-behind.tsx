import { Link } from '@tanstack/react-router'
import { CircleAlert } from 'lucide-react'
import { providersBehind } from '../../../../admin/contract/requests/request-steps.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { UntrustedText } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'

const lookBackMs = 15 * 60_000

/** A request that found no provider ready says nothing of why: the failures before it do. */
export function FailuresBehind({ record }: { record: RequestRow }) {
  if (record.error?.code !== 'provider_not_ready') return null
  const behind = providersBehind(record)
  if (behind.length === 0) return null
  const at = Date.parse(record.time)
  const window = { since: new Date(at - lookBackMs).toISOString(), until: new Date(at + 1000).toISOString() }
  return (
    <div className="notice notice-bad">
      <CircleAlert size={16} aria-hidden="true" />
      <div className="stack-tight">
        <p className="notice-title">No target was ready because of failures before this request.</p>
        <ul className="stack-tight">
          {behind.map((provider) => (
            <li key={provider} className="row">
              <Link to="/providers/$name" params={{ name: provider }} search={keepScope}>
                <UntrustedText text={provider} />
              </Link>
              <span aria-hidden="true">·</span>
              <Link to="/requests" search={(before) => ({ ...keepScope(before), ...window, failedAt: provider })}>
                Show the failures behind it
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}
