import { CircleAlert } from 'lucide-react'
import { useLive } from '../../live/live.ts'
import { sayUncounted } from './used-limits.ts'

/** A node that is cut off shows what it knew of the others: said where its budgets are shown. */
export function UncountedBudgets({ budgets }: { budgets: readonly unknown[] }) {
  const { status } = useLive()
  const text = sayUncounted(budgets, status?.degraded ?? [])
  if (text === null) return null
  return (
    <div className="notice notice-warning" role="alert">
      <CircleAlert size={16} aria-hidden="true" />
      <p>{text}</p>
    </div>
  )
}
