import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { orpc } from '../../client/admin.ts'
import { Rate, UntrustedText } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'
import type { Route } from '../outputs.ts'

/** What each target charges for its model; behind a pattern every model has a price of its own. */
export function RoutePrices({ route: { model, targets } }: { route: Route }) {
  const may = useMay('prices.list')
  const named = targets.flatMap(({ provider, upstream_model }) => {
    const name = upstream_model ?? model
    return name.includes('*') ? [] : [{ provider, model: name }]
  })
  const prices = useQueries({
    // A list, since a model without a price is no error here.
    queries: named.map((input) => ({ ...orpc.prices.list.queryOptions({ input }), enabled: may, retry: false })),
  })
  if (!may) return null
  return (
    <ul className="nested">
      {named.map(({ provider, model }, index) => {
        const { data: [price] = [], isPending } = prices[index] ?? { data: undefined, isPending: true }
        return (
          <li key={`${provider} ${model}`}>
            <UntrustedText text={`${provider}/${model}`} />:{' '}
            {price === undefined ? (
              <span className="quiet">{isPending ? '…' : 'no price'}</span>
            ) : (
              <>
                <Rate usd={price.input} /> input, <Rate usd={price.output} /> output
              </>
            )}
          </li>
        )
      })}
      <li>
        <Link to="/settings/$section" params={{ section: 'prices' }} search={keepScope}>
          {named.length < targets.length ? 'Prices of all models' : 'All prices'}
        </Link>
        <span className="quiet">, in USD per million tokens</span>
      </li>
    </ul>
  )
}
