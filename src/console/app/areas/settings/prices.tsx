import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { operationsByNoun } from '../../contract/operations.ts'
import { Empty } from '../../parts/index.ts'
import { useMayCall } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'

/** The place of the prices: whatever the contract has of them is offered here by itself. */
export function Prices() {
  return (
    <NounOperations noun="prices">
      <Empty title="Prices are not available yet" command="spgw requests stats --by model --since 30d">
        Requests show a cost where the price of their model is known, with the version of that price. Until prices can
        be set, costs are unknown and budgets in USD are not enforced.
      </Empty>
    </NounOperations>
  )
}

/** Every operation of a noun, with the forms drawn from them behind; `children` where the contract has none. */
export function NounOperations({ noun, children }: { noun: string; children: ReactNode }) {
  const may = useMayCall()
  const [found = []] = operationsByNoun(({ name, path }) => path[0] === noun && may(name)).map(([, each]) => each)
  if (found.length === 0) return children
  return (
    <ul className="list">
      {found.map(({ name, meta }) => (
        <li key={name} className="list-row">
          <Link to="/settings/operations/$operation" params={{ operation: name }} search={keepScope} className="grow">
            {meta.summary}
          </Link>
          <span className="small quiet">{meta.role}</span>
        </li>
      ))}
    </ul>
  )
}
