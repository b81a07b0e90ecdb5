import { escapeControls } from '../../src/admin/contract/show-value.ts'
import type { Paint } from './view.ts'

/** What `diff` and `apply` answer, as far as it is shown. */
export interface ShownPlan {
  owner: string
  changes: readonly ShownChange[]
  notes: readonly string[]
  adopted: number
  released: number
}

/** What `diff` answers. */
export interface ConfigurationPlan extends ShownPlan {
  problems: readonly PlanProblem[]
  /** Variables of new credentials that are not set: the plan can be shown, but not applied. */
  unset: readonly PlanProblem[]
  /** What `apply` takes to refuse any plan but this one. */
  expect: Record<string, string>
}

export interface PlanProblem {
  /** File, line and column. */
  place: string
  message: string
}

export interface ShownChange {
  action: 'create' | 'change' | 'remove'
  kind: string
  name: string
  project: string | null
  environment: string | null
  fields: readonly { field: string; before: unknown; after: unknown }[]
}

const signs = { create: '+', change: '~', remove: '-' } as const
const tones = { create: 'good', change: 'warning', remove: 'bad' } as const

/** `2 to create, 1 to change, 1 to remove`; what is not to be done is not said. */
export function countChanges(changes: readonly ShownChange[], words: Record<ShownChange['action'], string>): string {
  const parts = (['create', 'change', 'remove'] as const).flatMap((action) => {
    const count = changes.filter((change) => change.action === action).length
    return count === 0 ? [] : [`${count} ${words[action]}`]
  })
  return parts.join(', ')
}

export const toDo = { create: 'to create', change: 'to change', remove: 'to remove' }
export const done = { create: 'created', change: 'changed', remove: 'removed' }

/** Every change with its fields, old → new. The signs and words say all that the colours say. */
export function renderPlan(plan: ShownPlan, paint: Paint): string {
  const { changes } = plan
  const head = changes.length === 0 ? 'Nothing to change.' : `${countChanges(changes, toDo)}.`
  const blocks = changes.map((change) => renderChange(change, paint))
  return [head, ...blocks, ...renderMarks(plan), ...renderNotes(plan, paint)].map((line) => `${line}\n`).join('')
}

function renderChange(change: ShownChange, paint: Paint): string {
  const { action, kind, name, fields } = change
  const title = `${signs[action]} ${action} ${kind} ${escapeControls(name)}${scopeOf(change)}`
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  const lines = fields.map(({ field, before, after }) => {
    const value = action === 'create' ? showValue(after) : `${showValue(before)} → ${showValue(after)}`
    return `    ${paint('quiet', field.padEnd(width))}  ${value}`
  })
  return [`  ${paint(tones[action], title)}`, ...lines].join('\n')
}

function scopeOf({ kind, project, environment }: ShownChange): string {
  if (project === null) return ''
  if (environment !== null) return ` in ${project}/${environment}`
  return kind === 'route' ? ` in ${project} (all environments)` : ` in ${project}`
}

/** As a file has it, in one line. */
function showValue(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(showValue).join(', ')
  if (typeof value !== 'object') return escapeControls(String(value))
  const pairs = Object.entries(value).map(([name, inner]) => `${escapeControls(name)}=${showValue(inner)}`)
  return pairs.length === 0 ? 'none' : pairs.join(', ')
}

function renderMarks({ owner, adopted, released }: ShownPlan): string[] {
  const fields = (count: number) => (count === 1 ? '1 field' : `${count} fields`)
  return [
    ...(adopted === 0
      ? []
      : [`${fields(adopted)} will be managed by these files (owner ${owner}): by hand they change only with --force.`]),
    ...(released === 0 ? [] : [`${fields(released)} will no longer be managed by files.`]),
  ]
}

function renderNotes({ notes }: ShownPlan, paint: Paint): string[] {
  return notes.map((note) => `${paint('warning', 'Note:')} ${escapeControls(note)}.`)
}
