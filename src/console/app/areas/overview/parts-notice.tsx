import { CircleAlert } from 'lucide-react'
import { escapeControls } from '../../../../admin/contract/show-value.ts'
import { useLive } from '../../live/live.ts'
import { Time } from '../../parts/index.ts'

/** What is not well with the gateway itself, before anything else. */
export function PartsNotice() {
  const { status } = useLive()
  if (status === null || status.degraded.length === 0) return null
  return (
    <div className="notice notice-warning" role="alert">
      <CircleAlert size={16} aria-hidden="true" />
      <ul className="stack-tight">
        {status.degraded.map(({ part, reason, since }) => (
          <li key={part}>
            <span className="notice-title">Degraded: {part}</span>, since <Time at={since} />: {escapeControls(reason)}
          </li>
        ))}
      </ul>
    </div>
  )
}
