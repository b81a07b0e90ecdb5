import type { Column } from '../../src/admin/contract/operation.ts'
import { valueAt } from '../../src/admin/contract/show-value.ts'
import type { OutputForm } from '../global-options.ts'
import { deriveColumns } from './record.ts'

/** One document, exactly the operation's output. */
export async function renderDocument(
  form: Exclude<OutputForm, 'table'>,
  columns: readonly Column[] | undefined,
  output: unknown,
): Promise<string> {
  if (form === 'json') return `${JSON.stringify(output, null, 2)}\n`
  if (form === 'csv') return renderCsv(columns, output)
  const { renderYaml } = await import('./yaml.ts')
  return renderYaml(output)
}

/** RFC 4180 with `\n`; the head has the stable field names, the cells are the plain values. */
function renderCsv(columns: readonly Column[] | undefined, output: unknown): string {
  const rows: readonly unknown[] = Array.isArray(output) ? output : [output]
  const chosen = columns ?? deriveColumns(rows[0])
  return csvHead(chosen) + rows.map((row) => csvLine(chosen, row)).join('')
}

export function csvHead(columns: readonly Column[]): string {
  return `${fieldsOf(columns).map(csvCell).join(',')}\n`
}

export function csvLine(columns: readonly Column[], row: unknown): string {
  return `${fieldsOf(columns)
    .map((field) => csvCell(valueAt(row, field)))
    .join(',')}\n`
}

/** A cell for each field, also where people see two in one. */
function fieldsOf(columns: readonly Column[]): string[] {
  return columns.flatMap(({ field, otherwise, also }) =>
    [field, otherwise, also?.field].filter((one) => one !== undefined),
  )
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
