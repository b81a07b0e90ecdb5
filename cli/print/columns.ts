import type { Column } from '../../src/admin/contract/operation.ts'
import { guessFormat, valueAt } from '../../src/admin/contract/show-value.ts'
import { closestName } from '../../src/core/text/closest-names.ts'
import { usageFault } from '../fault.ts'
import type { OutputForm } from '../global-options.ts'

/**
 * The columns that `--columns` names: one of the operation's by its title or field, or any other field of a row. With no
 * row to look at, what is not known is shown empty.
 */
export function pickColumns(
  columns: readonly Column[],
  named: readonly string[] | null,
  row: unknown,
  output: OutputForm,
): readonly Column[] {
  if (named === null) return columns
  if (named.length === 0) throw usageFault('--columns is empty.', `Choose from ${listNames(columns)}.`)
  const picked = named.map((name) => pickColumn(columns, name, row))
  return output === 'json' || output === 'yaml'
    ? picked.map((column, at) => wholeMember(column, named[at] ?? ''))
    : picked
}

/** A column may show a part of what is called so: in a document `cost` is all of it, and not `cost.usd`. */
function wholeMember(column: Column, name: string): Column {
  return column.field.startsWith(`${name}.`) ? { field: name, title: column.title } : column
}

function pickColumn(columns: readonly Column[], name: string, row: unknown): Column {
  const known = columns.find((column) => column.field === name || nameOf(column) === normalise(name))
  if (known !== undefined) {
    const { optional: _, ...asked } = known
    return asked
  }
  // As flags are written: the field is `created_by`.
  const field = [name, name.replaceAll('-', '_')].find((one) => valueAt(row, one) !== undefined) ?? name
  if (row === undefined || valueAt(row, field) !== undefined) {
    return { field, title: name.toUpperCase(), format: guessFormat(field.split('.').at(-1) ?? field) }
  }
  const near = closestName(normalise(name), columns.map(nameOf))
  const hint = near === null ? `Choose from ${listNames(columns)}.` : `Did you mean ${near}?`
  throw usageFault(`Unknown column ${name}.`, hint)
}

/** `LAST USED` → `last-used` */
function nameOf(column: Column): string {
  return normalise(column.title)
}

function normalise(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_]+/g, '-')
}

function listNames(columns: readonly Column[]): string {
  return columns.map(nameOf).join(', ')
}
