import type { Operation } from '../cli/operation.ts'
import { valueAt } from '../src/admin/contract/show-value.ts'

/** What is looked at; null: every project, or every environment of the project. */
export interface ViewScope {
  project: string | null
  environment: string | null
}

export const everything: ViewScope = { project: null, environment: null }

/** `all projects`, `search`, `search/staging` */
export function describeScope({ project, environment }: ViewScope): string {
  if (project === null) return 'all projects'
  return environment === null ? project : `${project}/${environment}`
}

/** `search/staging`, `search`, or `all`; null: none of these. */
export function parseScope(text: string): ViewScope | null {
  if (text === '' || text === 'all' || text === '*') return everything
  const [project, environment, ...more] = text.split('/')
  if (!project || more.length > 0) return null
  return { project, environment: environment || null }
}

/** The part of an operation's input that keeps it to the scope. What it cannot say is left to `isInScope`. */
export function scopeInput({ fields, meta }: Operation, scope: ViewScope): object {
  const isText = (name: string) => fields.some((field) => field.name === name && field.shape === 'text')
  const hasAll = fields.some(({ name, shape }) => name === 'all' && shape === 'boolean')
  const { project, environment } = meta.effect === 'read' || hasDefaultScope(fields) ? scope : everything
  if (hasAll && (project === null || (environment === null && isText('environment')))) return { all: true }
  return {
    ...(project !== null && isText('project') ? { project } : {}),
    ...(environment !== null && isText('environment') ? { environment } : {}),
  }
}

/** The operation names or makes one thing, in a project that has a default. */
function hasDefaultScope(fields: Operation['fields']): boolean {
  return fields.some(({ name, fallback }) => name === 'project' && typeof fallback === 'string')
}

/** What belongs to no project, or to all environments of one, is in every scope. */
export function isInScope(row: unknown, { project, environment }: ViewScope): boolean {
  const projects = valueAt(row, 'projects')
  if (project !== null && Array.isArray(projects)) return projects.includes(project)
  return matches(valueAt(row, 'project'), project) && matches(valueAt(row, 'environment'), environment)
}

function matches(value: unknown, wanted: string | null): boolean {
  return wanted === null || typeof value !== 'string' || value === wanted
}

/** What the rows of a list cover, for its heading; null: those of one thing, which the title names. */
export function coverageOf(operation: Operation, given: object, scope: ViewScope): string | null {
  if (operation.meta.positional?.some((name) => textAt(given, name) !== null)) return null
  const project = textAt(given, 'project')
  if (project !== null) return describeScope({ project, environment: textAt(given, 'environment') })
  if (Reflect.get(given, 'all') === true) return describeScope(scope)
  if (operation.name === 'providers.list' && scope.project !== null) return `usable in ${scope.project}`
  return describeScope(everything)
}

function textAt(given: object, name: string): string | null {
  const value: unknown = Reflect.get(given, name)
  return typeof value === 'string' && value !== '' ? value : null
}
