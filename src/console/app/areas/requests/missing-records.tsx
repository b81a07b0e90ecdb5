import { CircleAlert } from 'lucide-react'
import { describeMissing } from '../../../../core/degraded.ts'
import { useLive } from '../../live/live.ts'

/** Only while it is so: the list looks whole without what waits. */
export function MissingRecords() {
  const { status } = useLive()
  const missing = describeMissing(status?.degraded.map(({ part }) => part) ?? [])
  if (missing === null) return null
  return (
    <div className="notice notice-warning" role="alert">
      <CircleAlert size={16} aria-hidden="true" />
      <p>{missing}</p>
    </div>
  )
}
