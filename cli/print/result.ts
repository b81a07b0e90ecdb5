import type { Column, Show } from '../../src/admin/contract/operation.ts'
import { limitGroups } from '../../src/admin/contract/requests/limit-groups.ts'
import { rowsOf } from '../../src/admin/contract/show-rows.ts'
import { escapeControls, valueAt } from '../../src/admin/contract/show-value.ts'
import { isUnpriced } from '../../src/admin/contract/unpriced.ts'
import { groupDigits } from '../../src/core/units.ts'
import type { GlobalOptions } from '../global-options.ts'
import type { Io } from '../io.ts'
import type { GatewayClient, Operation } from '../operation.ts'
import { pickColumns } from './columns.ts'
import { renderDocument } from './machine.ts'
import { deriveColumns, renderRecord } from './record.ts'
import { renderTable } from './table.ts'
import { prepareWidths } from './text-width.ts'
import { stdoutView, type View } from './view.ts'
import { describeWritten } from './written.ts'

export interface CommandResult {
  operation: Operation
  /** What it was asked. */
  input: Readonly<Record<string, unknown>>
  output: unknown
  gateway: GatewayClient
}

type Render = (output: unknown, view: View) => string

/** Screens that the contract cannot say, by operation, loaded when they are shown; each is given the operation's own output. */
const handMade: Record<string, () => Promise<Render>> = {
  'audit.show': async () => (await import('./audit-entry.ts')).renderAuditEntry,
  'audit.verify': async () => (await import('./audit-entry.ts')).renderAuditVerdict,
  status: async () => (await import('./status.ts')).renderStatus,
  'requests.show': async () => (await import('./request.ts')).renderRequest,
  'policies.try': async () => (await import('./tried-rules.ts')).renderTriedRules,
  'routes.explain': async () => (await import('./explanation.ts')).renderExplanation,
}

function chooseColumns(
  show: Show,
  output: unknown,
  { columns, output: form }: GlobalOptions,
): readonly Column[] | undefined {
  const own = 'columns' in show ? show.columns : undefined
  if (columns === null) return own
  const rows = rowsOf(show, output)
  return pickColumns(own ?? deriveColumns(rows[0]), columns, rows[0], form)
}

/** Results go to stdout, everything said to a person to stderr. */
export async function printResult(result: CommandResult, settings: GlobalOptions, io: Io): Promise<void> {
  const { operation, output } = result
  const { show } = operation.meta
  const columns = chooseColumns(show, output, settings)
  if (settings.output !== 'table') {
    const isChosen = settings.columns !== null && columns !== undefined
    const document =
      settings.output === 'csv' ? rowsOf(show, output) : isChosen ? pickMembers(show, columns, output) : output
    await io.stdout.write(await renderDocument(settings.output, columns, document))
    return
  }
  if (show.as === 'once') {
    const { printOnce } = await import('./secret.ts')
    return printOnce(show, result, io)
  }
  const view = stdoutView(io, settings.utc)
  await prepareWidths(output)
  const own = await handMade[operation.name]?.()
  if (own !== undefined) return io.stdout.write(own(output, view))
  if (show.as !== 'table') return printRecord(result, columns, settings, view, io)
  const covered = describeCover(operation, result.input)
  // For people: programs read the table from its first line.
  if (covered !== null && io.stdout.isTerminal) await io.stderr.write(`${view.paint('quiet', covered)}\n`)
  const all = rowsOf(show, output)
  const { first } = show
  const isCut = first !== undefined && result.input.limit === undefined && io.stdout.isTerminal
  const rows = isCut ? limitGroups(all, result.input, first) : all
  if (rows.length === 0) return io.stderr.write(`${show.empty}\n`)
  await io.stdout.write(renderTable(columns ?? show.columns, rows, view))
  // A cell has room for one limit only.
  if (operation.name === 'keys.usage' && rows.length === 1 && settings.columns === null)
    await io.stdout.write((await import('./limits.ts')).renderLimitsOf(rows, view))
  const note = describeUnpriced(operation, rows)
  if (note !== null && io.stdout.isTerminal) await io.stderr.write(`${view.paint('quiet', note)}\n`)
  if (rows.length < all.length)
    await io.stderr.write(
      `Shown are ${rows.length} of ${groupDigits(all.length)}. For more: --limit N; for all: --json\n`,
    )
}

/** What is said below a table of costs in which some are missing; null: none is. */
function describeUnpriced({ name }: Operation, rows: readonly unknown[]): string | null {
  if (name !== 'requests.stats' || !rows.some(isUnpriced)) return null
  return 'A cost of – means that a model has no price; budgets in USD do not count it: spgw prices set MODEL --input USD --output USD'
}

/** What a list covers (contract.md rule 28); null: it is not about projects. */
function describeCover({ fields }: Operation, input: CommandResult['input']): string | null {
  const isFilter = (name: string) => fields.some((field) => field.name === name && !field.required && !field.fallback)
  if (!isFilter('project')) return null
  const { project, environment } = input.all === true ? {} : input
  const ofProject = typeof project === 'string' ? `Project ${project}` : 'All projects'
  if (!isFilter('environment')) return escapeControls(ofProject)
  if (typeof environment === 'string') return escapeControls(`${ofProject}, environment ${environment}`)
  return escapeControls(
    typeof project === 'string' ? `${ofProject}, all environments` : 'All projects and environments',
  )
}

/** After a write one line says what it came to; the whole sheet is what `show` is for. */
async function printRecord(
  { operation, output, gateway }: CommandResult,
  columns: readonly Column[] | undefined,
  settings: GlobalOptions,
  view: View,
  io: Io,
): Promise<void> {
  const written = settings.columns === null ? await describeWritten(operation, output, gateway, view) : null
  if (written === null) {
    const { renderLimits } = await import('./limits.ts')
    const below = settings.columns === null ? await renderLimits(operation.name, output, gateway, view) : ''
    return io.stdout.write(renderRecord(columns, output, view, settings.columns !== null) + below)
  }
  await io.stdout.write(`${written.line}\n`)
  if (written.next !== null) await io.stderr.write(`${escapeControls(written.next)}\n`)
}

/** `--columns` with JSON or YAML: only these members, each under the path that names it. */
function pickMembers(show: Show, columns: readonly Column[], output: unknown): unknown {
  const pick = (row: unknown) => Object.fromEntries(columns.map(({ field }) => [field, valueAt(row, field) ?? null]))
  const isList = Array.isArray(output) || (show.as === 'table' && show.rows !== undefined)
  return isList ? rowsOf(show, output).map(pick) : pick(output)
}
