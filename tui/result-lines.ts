import type { Operation } from '../cli/operation.ts'
import { renderAuditEntry, renderAuditVerdict } from '../cli/print/audit-entry.ts'
import { renderExplanation } from '../cli/print/explanation.ts'
import {
  type ConfigurationPlan,
  countChanges,
  done,
  type PlanProblem,
  renderPlan,
  type ShownPlan,
} from '../cli/print/plan.ts'
import { deriveColumns, isTable } from '../cli/print/record.ts'
import { renderRequest } from '../cli/print/request.ts'
import { renderStatus } from '../cli/print/status.ts'
import { alignText, renderTable } from '../cli/print/table.ts'
import { textWidth } from '../cli/print/text-width.ts'
import { renderTriedRules } from '../cli/print/tried-rules.ts'
import type { Column } from '../src/admin/contract/operation.ts'
import { absent, escapeControls, formatCell, toneOfCell, valueAt } from '../src/admin/contract/show-value.ts'
import { wrap } from './lines.ts'
import type { TextTheme } from './screen.ts'

/** Results that the contract cannot describe; the command line has drawn them already. */
const handMade: Record<string, (output: unknown, theme: TextTheme & { width: number }) => string> = {
  'audit.show': renderAuditEntry,
  'audit.verify': renderAuditVerdict,
  status: renderStatus,
  'requests.show': renderRequest,
  'policies.try': renderTriedRules,
  'routes.explain': renderExplanation,
  diff: (output, theme) => planLines(readPlan(output), theme).join('\n'),
  apply: renderApplied,
  export: (output) => linesOf(valueAt(output, 'text')),
}

/** What `diff` answers; throws where a file has a mistake. */
export function readPlan(output: unknown): ConfigurationPlan {
  const plan = output as ConfigurationPlan
  rejectProblems(plan.problems, 'Nothing was changed. Fix the files.')
  return plan
}

/** Throws where a plan can be shown but not applied, because variables are not set. */
export function rejectUnset({ unset }: ConfigurationPlan): void {
  rejectProblems(unset, 'Nothing was changed. Set the variables and start spgw tui again.')
}

function rejectProblems(problems: readonly PlanProblem[], hint: string): void {
  if (problems.length === 0) return
  const text = problems.map(({ place, message }) => `${place}: ${message}`).join('; ')
  throw Object.assign(new Error(text), { hint })
}

export function planLines(plan: ShownPlan, { paint }: TextTheme): string[] {
  return renderPlan(plan, paint).trimEnd().split('\n')
}

function renderApplied(output: unknown, theme: TextTheme & { width: number }): string {
  const applied = output as ShownPlan
  const keys = valueAt(output, 'keys')
  const made = Array.isArray(keys) && keys.length > 0 ? ['', 'New keys, shown only once:', ...keys.map(keyLine)] : []
  const text = applied.changes.length === 0 ? 'Nothing to change.' : `Applied: ${countChanges(applied.changes, done)}.`
  return [text, '', ...planLines(applied, theme), ...made].join('\n')
}

function keyLine(key: unknown): string {
  const part = (name: string) => escapeControls(String(valueAt(key, name)))
  return `${part('project')}/${part('environment')}/${part('name')}  ${part('key')}`
}

/** Its own line ends are kept. */
function linesOf(text: unknown): string {
  return String(text).split('\n').map(escapeControls).join('\n')
}

/** An operation's answer as lines of at most `width`. */
export function resultLines(operation: Operation, output: unknown, width: number, theme: TextTheme): string[] {
  const view = { ...theme, width }
  const own = handMade[operation.name]
  if (own !== undefined) return own(output, view).trimEnd().split('\n')
  const { show } = operation.meta
  const columns = 'columns' in show ? show.columns : undefined
  if (Array.isArray(output)) return tableLines(columns ?? deriveColumns(output[0]), output, view)
  return recordLines(show.as === 'record' ? (columns ?? deriveColumns(output)) : deriveColumns(output), output, view)
}

/** What a record says besides, field by field: without those that are shown elsewhere. */
export function remainingLines(
  record: unknown,
  shown: readonly string[],
  theme: TextTheme & { width: number },
): string[] {
  return recordLines(
    deriveColumns(record).filter(({ field }) => !shown.includes(field)),
    record,
    theme,
  )
}

/**
 * One object as `title  value` lines, long values over several; lists of objects in it become tables below. What has no
 * value is left out.
 */
function recordLines(columns: readonly Column[], record: unknown, theme: TextTheme & { width: number }): string[] {
  const holdsTable = ({ field }: Column) => isTable(valueAt(record, field))
  const plain = columns.filter((column) => !holdsTable(column) && formatCell(record, column, theme) !== absent)
  const titleWidth = Math.max(0, ...plain.map(({ title }) => textWidth(title)))
  const lines = plain.flatMap((column) => {
    const tone = toneOfCell(record, column)
    const value = wrap(formatCell(record, column, theme), Math.max(10, theme.width - titleWidth - 2))
    return value.map((part, index) => {
      const title = alignText(index === 0 ? column.title : '', titleWidth, false)
      return `${theme.paint('quiet', title)}  ${tone === null ? part : theme.paint(tone, part)}`
    })
  })
  const tables = columns.filter(holdsTable).flatMap((column) => {
    const rows = valueAt(record, column.field)
    const list = Array.isArray(rows) ? rows : []
    return ['', theme.paint('strong', column.title), ...tableLines(deriveColumns(list[0]), list, theme)]
  })
  return [...lines, ...tables]
}

function tableLines(
  columns: readonly Column[],
  rows: readonly unknown[],
  theme: TextTheme & { width: number },
): string[] {
  if (rows.length === 0) return []
  return renderTable(columns, rows, theme).trimEnd().split('\n')
}
