import { Link } from '@tanstack/react-router'
import { useLive } from '../../live/live.ts'
import { useScope } from '../../session/scope.ts'
import { keepScope } from '../../shell/keys.ts'
import { LimitBarList } from '../keys/limit-bars.tsx'
import { UncountedBudgets } from '../keys/uncounted-budgets.tsx'
import { isWithin } from '../keys/used-limits.ts'

const most = 6

/** Budgets in sight, the one nearest to its end first; nothing where there are none. */
export function OverviewBudgets() {
  const { status } = useLive()
  const scope = useScope()
  const budgets = (status?.budgets ?? []).filter((budget) => isWithin(budget, scope))
  if (budgets.length === 0) return null
  return (
    <section className="stack-tight" aria-labelledby="budgets-title">
      <div className="row spread">
        <h2 id="budgets-title">Budgets</h2>
        <Link to="/settings/$section" params={{ section: 'policies' }} search={keepScope}>
          View policies
        </Link>
      </div>
      <UncountedBudgets budgets={budgets} />
      <div className="card">
        <LimitBarList limits={budgets.slice(0, most)} detailed label="Budgets" />
      </div>
    </section>
  )
}
