import { useSearch } from '@tanstack/react-router'

/** The part of the workspace that a page shows. It is in the address, so that a link shows everybody the same. */
export interface ScopeSearch {
  /** Left out: all projects. */
  project?: string
  /** Left out: all environments of the project. */
  environment?: string
}

export interface Scope extends ScopeSearch {
  all: boolean
  /** For what lists by scope (`keys.list`, `routes.list`). */
  listInput: { project?: string; environment?: string; all: boolean }
  /** For what filters by scope (`requests.list`). */
  filter: ScopeSearch
  /** Where new resources are created. */
  defaultScope: { project: string; environment: string }
}

export function useScope(): Scope {
  const { project, environment }: ScopeSearch = useSearch({ strict: false })
  const filter: ScopeSearch = {
    ...(project === undefined ? {} : { project }),
    ...(project === undefined || environment === undefined ? {} : { environment }),
  }
  const defaultScope = { project: project ?? 'default', environment: environment ?? 'production' }
  // A list is of one environment or of everything; a project's own is cut out of everything by the page (`inScope`).
  const exact = filter.environment !== undefined
  return {
    ...filter,
    all: project === undefined,
    listInput: exact ? { ...defaultScope, all: false } : { all: true },
    filter,
    defaultScope,
  }
}

/** The project of the address, if it is none of these; null as well before they have been read. */
export function absentProject({ project }: ScopeSearch, projects: readonly { name: string }[] = []): string | null {
  if (project === undefined || projects.length === 0) return null
  return projects.some(({ name }) => name === project) ? null : project
}

/** Whether a row that names its project and environment belongs to the scope. */
export function inScope(scope: Scope, row: { project: string; environment?: string | null }): boolean {
  if (scope.project !== undefined && row.project !== scope.project) return false
  const { environment } = row
  return scope.environment === undefined || environment === null || environment === undefined
    ? true
    : environment === scope.environment
}
