import type Sqlite from 'better-sqlite3'
import type { RowChange } from './replica-types.ts'
import { type SharedTable, sharedTables } from './shared-tables.ts'

/**
 * Which rows change, by triggers that live with this connection alone. They note nothing until `beginCapture` is called in
 * a transaction, and nothing again once it is over, since it is always undone.
 */
export function installCapture(sqlite: Sqlite.Database): void {
  sqlite.exec(`create temp table if not exists capturing (on_now integer not null);
    create temp table if not exists captured (
      number integer primary key, name text not null, key text not null, before text, after text)`)
  for (const table of sharedTables) for (const statement of triggersOf(sqlite, table)) sqlite.exec(statement)
}

export function columnsOf(sqlite: Sqlite.Database, table: string): string[] {
  const rows = sqlite.prepare('select name from pragma_table_info(?)').all(table) as { name: string }[]
  return rows.map(({ name }) => name)
}

/** In the transaction that will be undone. */
export function beginCapture(sqlite: Sqlite.Database): void {
  sqlite.exec('delete from temp.captured; insert into temp.capturing values (1)')
}

/** What became of each row since, in the order in which they were first changed. */
export function readCaptured(sqlite: Sqlite.Database): RowChange[] {
  const rows = sqlite.prepare('select name, key, before, after from temp.captured order by number').all() as Captured[]
  const changes = new Map<string, RowChange>()
  for (const row of rows) {
    const place = `${row.name} ${row.key}`
    const known = changes.get(place)
    const next = toChange(row)
    if (next !== null) changes.set(place, known === undefined ? next : fold(known, next))
  }
  return [...changes.values()]
}

interface Captured {
  name: string
  key: string
  before: string | null
  after: string | null
}

/** Null: nothing is different. */
function toChange({ name, key, before, after }: Captured): RowChange | null {
  if (after === null) return { name, key, op: 'drop', patch: null }
  const row = readRow(after)
  if (before === null) return { name, key, op: 'put', patch: row }
  const old = readRow(before)
  const patch = Object.fromEntries(Object.entries(row).filter(([column, value]) => value !== old[column]))
  return Object.keys(patch).length === 0 ? null : { name, key, op: 'set', patch }
}

function fold(known: RowChange, next: RowChange): RowChange {
  if (next.op !== 'set') return next
  return { ...known, patch: { ...known.patch, ...next.patch } }
}

function readRow(text: string): Record<string, unknown> {
  return JSON.parse(text)
}

/** `old.a, old.b` as a JSON list: the same text for the same values on every node. */
export function keyText(table: SharedTable, row: string): string {
  return `json_array(${table.key.map((column) => `${row}${column}`).join(', ')})`
}

function triggersOf(sqlite: Sqlite.Database, table: SharedTable): string[] {
  const { name } = table
  const columns = columnsOf(sqlite, name)
  const shared = columns.filter((column) => !isOwnColumn(table, column))
  const image = (row: string, of: readonly string[]) =>
    `json_object(${of.map((column) => `'${column}', ${row}.${column}`).join(', ')})`
  const note = (event: string, key: string, before: string, after: string) =>
    `create temp trigger if not exists capture_${name}_${event.split(' ')[0]} after ${event} on main.${name}
     when exists (select 1 from temp.capturing)
     begin insert into captured (name, key, before, after) values ('${name}', ${key}, ${before}, ${after}); end`
  return [
    note('insert', keyText(table, 'new.'), 'null', image('new', columns)),
    note(`update of ${shared.join(', ')}`, keyText(table, 'new.'), image('old', shared), image('new', shared)),
    note('delete', keyText(table, 'old.'), 'null', 'null'),
  ]
}

export function isOwnColumn({ own = [] }: SharedTable, column: string): boolean {
  return own.includes(column)
}
