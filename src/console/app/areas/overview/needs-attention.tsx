import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, CircleX } from 'lucide-react'
import { orpc } from '../../client/admin.ts'
import { useLive } from '../../live/live.ts'
import { useTraffic } from '../../live/traffic.ts'
import { UntrustedText } from '../../parts/index.ts'
import { inScope, useScope } from '../../session/scope.ts'
import { keepScope } from '../../shell/keys.ts'
import { isWithin } from '../keys/used-limits.ts'
import { type Attention, listAttention } from './attention.ts'

/** What is wrong, before any figure: each line opens what it is about. */
export function NeedsAttention() {
  const scope = useScope()
  const { status } = useLive()
  const providers = useQuery(orpc.providers.list.queryOptions({ input: {} }))
  const routes = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const keys = useQuery(orpc.keys.list.queryOptions({ input: { all: true } }))
  const errors = useQuery(
    orpc.requests.stats.queryOptions({ input: { ...scope.filter, since: '1h', errors: true, by: 'error' } }),
  )
  const budgets = (status?.budgets ?? []).filter((budget) => isWithin(budget, scope))
  const countsMoney = budgets.some(({ kind }) => kind === 'usd')
  const models = useQuery({
    ...orpc.requests.stats.queryOptions({ input: { ...scope.filter, since: '24h', by: 'model' } }),
    enabled: countsMoney,
  })
  useTraffic(() => {
    void providers.refetch()
    if (countsMoney) void models.refetch()
    void errors.refetch()
  })
  if (!providers.data || !routes.data || !keys.data || !errors.data) return <section className="attention" />
  const found = listAttention({
    providers: providers.data,
    routes: routes.data.filter((route) => inScope(scope, route)),
    keys: keys.data.filter((key) => inScope(scope, key)),
    errors: errors.data,
    budgets,
    nodes: status?.cluster?.nodes ?? [],
    models: models.data ?? [],
    now: Date.now(),
  })
  if (found.length === 0)
    return (
      <p className="row attention-none">
        <CircleCheck size={16} aria-hidden="true" />
        Nothing needs attention.
      </p>
    )
  return (
    <section className="attention" aria-labelledby="attention-title">
      <h2 id="attention-title">Needs attention</h2>
      <ul className="list">
        {found.map((line) => (
          <li key={line.key}>
            <Line line={line} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Line({ line: { tone, subject, text, to, params, search } }: { line: Attention }) {
  return (
    <Link to={to} params={params} search={(before) => ({ ...keepScope(before), ...search })} className="attention-line">
      {tone === 'bad' ? (
        <CircleX size={16} aria-label="Error" className="state-bad" />
      ) : (
        <CircleAlert size={16} aria-label="Warning" className="state-warning" />
      )}
      <span className="grow breakable">
        <b>
          <UntrustedText text={subject} />
        </b>
        : <UntrustedText text={text} />
      </span>
      <span className="attention-open">Open</span>
    </Link>
  )
}
