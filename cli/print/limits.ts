import { describeOpen, hoursRows, nameHours } from '../../src/admin/contract/show-hours.ts'
import { limitColumns, limitRows } from '../../src/admin/contract/show-limit.ts'
import { escapeControls, formatValue, valueAt } from '../../src/admin/contract/show-value.ts'
import type { GatewayClient } from '../operation.ts'
import { renderTable } from './table.ts'
import type { View } from './view.ts'

/** An operation whose answer says what is used of the limits of a thing. */
export interface LimitQuestion {
  path: readonly string[]
  input: object
}

/** By the operation that shows the thing. */
const questions: Readonly<Record<string, (thing: unknown) => LimitQuestion>> = {
  'keys.show': (key) => ({
    path: ['keys', 'usage'],
    input: { key: valueAt(key, 'id'), project: valueAt(key, 'project'), environment: valueAt(key, 'environment') },
  }),
  'policies.show': (policy) => ({ path: ['policies', 'usage'], input: { name: valueAt(policy, 'id') } }),
  'projects.show': (project) => ({ path: ['policies', 'usage'], input: { project: valueAt(project, 'id') } }),
}

/** null: it is nothing that limits apply to. */
export function askLimits(operation: string, thing: unknown): LimitQuestion | null {
  return questions[operation]?.(thing) ?? null
}

/** Below a key, a policy or a project: its limits and budgets, with what is used of them. Empty: nothing is limited. */
export async function renderLimits(
  operation: string,
  thing: unknown,
  gateway: GatewayClient,
  view: View,
): Promise<string> {
  const question = askLimits(operation, thing)
  // An older gateway may not know the question; what was asked for is shown all the same.
  const answer = question === null ? [] : await gateway.call([...question.path], question.input).catch(() => [])
  return renderLimitsOf(answer, view)
}

/** Of what `keys usage` and `policies usage` answer. */
export function renderLimitsOf(answer: unknown, view: View): string {
  const rows = limitRows(answer)
  const limits =
    rows.length === 0 ? '' : `\n${view.paint('strong', 'Limits')}\n${renderTable(limitColumns, rows, view)}`
  return limits + renderHours(answer, view)
}

/** When the policies of a key allow requests, and whether they do now. */
function renderHours(answer: unknown, view: View): string {
  const lines = hoursRows(answer).map((row) => {
    const state = describeOpen(row, (time) => formatValue(time, 'age', view))
    return `${escapeControls(row.policy)}  ${escapeControls(nameHours(row))}  ${view.paint(row.open ? 'good' : 'bad', state)}\n`
  })
  return lines.length === 0 ? '' : `\n${view.paint('strong', 'Allowed hours')}\n${lines.join('')}`
}
