import type { Column } from '../../src/admin/contract/operation.ts'
import { valueAt } from '../../src/admin/contract/show-value.ts'
import { csvLine } from '../../src/core/text/csv.ts'
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

/** The head has the stable field names, the cells are the plain values. */
function renderCsv(columns: readonly Column[] | undefined, output: unknown): string {
  const rows: readonly unknown[] = Array.isArray(output) ? output : [output]
  const chosen = columns ?? deriveColumns(rows[0])
  return csvHead(chosen) + rows.map((row) => csvRow(chosen, row)).join('')
}

export function csvHead(columns: readonly Column[]): string {
  return csvLine(fieldsOf(columns))
}

export function csvRow(columns: readonly Column[], row: unknown): string {
  return csvLine(fieldsOf(columns).map((field) => valueAt(row, field)))
}

/** A cell for each field, also where people see two in one. */
function fieldsOf(columns: readonly Column[]): string[] {
  return columns.flatMap(({ field, otherwise, also }) =>
    [field, otherwise, also?.field].filter((one) => one !== undefined),
  )
}
