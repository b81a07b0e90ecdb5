import { Link } from '@tanstack/react-router'
import { keepScope } from '../../shell/keys.ts'
import type { Environment, Route } from '../outputs.ts'
import { pluralize } from '../units.ts'

interface RemovalRefusalProps {
  name: string
  /** That send requests to it, or copies of them. */
  routes: readonly Route[]
  /** Where it serves requests without a model. */
  defaults: readonly Environment[]
}

export function RemovalRefusal({ name, routes, defaults }: RemovalRefusalProps) {
  const routesUse = `${pluralize(routes.length, 'route')} ${routes.length === 1 ? 'uses' : 'use'} it`
  const isDefault = `it is a default provider of ${pluralize(defaults.length, 'environment')}`
  const why = [...(routes.length === 0 ? [] : [routesUse]), ...(defaults.length === 0 ? [] : [isDefault])]
  return (
    <div className="stack-tight">
      <p>
        <b>{name}</b> cannot be removed while {why.join(', and ')}. Change that first:
      </p>
      <ul className="list">
        {routes.map(({ id, model, project, environment }) => (
          <li key={id} className="list-row">
            <Link
              to="/routing/$route"
              params={{ route: id }}
              search={(before) => ({ ...keepScope(before), do: 'edit' })}
              className="grow"
            >
              {model}
            </Link>
            <span className="small quiet">
              {project}/{environment ?? 'all'}
            </span>
          </li>
        ))}
        {defaults.map(({ id, name: environment, project }) => (
          <li key={id} className="list-row">
            <Link to="/settings/$section" params={{ section: 'projects' }} search={keepScope} className="grow">
              Environment {environment}
            </Link>
            <span className="small quiet">{project}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
