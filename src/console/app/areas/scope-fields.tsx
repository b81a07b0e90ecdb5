import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { orpc } from '../client/admin.ts'
import { useMayCall } from '../session/session.ts'

/** Where something is made. `environment` null: in all of the project. */
export interface ScopeValue {
  project: string
  environment: string | null
}

export interface ScopeFieldsProps {
  value: ScopeValue
  onChange(value: ScopeValue): void
  /** Only projects in which one may call it are offered. */
  operation: string
  /** Whether it may be of all environments of the project. */
  allEnvironments?: boolean
}

/** Project and environment, chosen from those that there are. */
export function ScopeFields({ value, onChange, operation, allEnvironments = false }: ScopeFieldsProps) {
  const id = useId()
  const may = useMayCall()
  const { data = [] } = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const projects = data.filter(({ name }) => may(operation, name))
  const known = projects.find(({ name }) => name === value.project)
  const environments = known?.environments ?? (value.environment === null ? [] : [value.environment])
  const names = projects.length === 0 ? [value.project] : projects.map(({ name }) => name)
  const chooseProject = (project: string) => {
    const own = projects.find(({ name }) => name === project)?.environments ?? []
    const keeps = value.environment === null || own.includes(value.environment)
    onChange({ project, environment: keeps ? value.environment : (own[0] ?? null) })
  }
  return (
    <div className="field-pair">
      <div className="field">
        <label htmlFor={`${id}-project`}>Project</label>
        <select
          id={`${id}-project`}
          className="input"
          value={value.project}
          onChange={(event) => chooseProject(event.target.value)}
        >
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}-environment`}>Environment</label>
        <select
          id={`${id}-environment`}
          className="input"
          value={value.environment ?? ''}
          onChange={(event) =>
            onChange({ ...value, environment: event.target.value === '' ? null : event.target.value })
          }
        >
          {allEnvironments ? <option value="">All environments</option> : null}
          {environments.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
    </div>
  )
}
