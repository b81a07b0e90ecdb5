import type Sqlite from 'better-sqlite3'
import { columnsOf, isOwnColumn, keyText } from './capture.ts'
import type { RowChange, SharedRow, SharedRows } from './replica-types.ts'
import { numberedTables, type SharedTable, sharedTables } from './shared-tables.ts'

type Row = Record<string, unknown>

/**
 * Makes the rows what the cluster says they are, whatever they were: state, and not history, so that a replica that slept
 * comes out equal. Within a transaction, and with foreign keys off: all changed rows go before any is put back, since two
 * of them may have changed places.
 */
export function applyRows(sqlite: Sqlite.Database, { rows, extent }: Pick<SharedRows, 'rows' | 'extent'>): void {
  const byTable = Map.groupBy(rows, ({ name }) => name)
  const tables = sharedTables
    .filter(({ name }) => name !== 'audit')
    .map((table) => new TableRows(sqlite, table, byTable.get(table.name) ?? [], extent !== 'changes'))
    .filter(({ changed }) => changed)
  sqlite.exec('insert into replica_applying values (1)')
  const version = tables.some(({ table }) => table.name.includes('key')) ? nextVersion(sqlite) : 0
  for (const table of tables) table.remove()
  for (const table of tables) table.insert(version)
  numberKeysOf(sqlite, byTable.get('key_secrets') ?? [], version)
  const audit = byTable.get('audit') ?? []
  if (extent === 'join') replaceAudit(sqlite, audit)
  else continueAudit(sqlite, audit)
  followRemovals(sqlite, tables)
  sqlite.exec('delete from replica_applying')
}

/** What was decided here while PostgreSQL was away holds, whatever others have written meanwhile. */
export function applyPending(sqlite: Sqlite.Database, changes: readonly RowChange[]): void {
  for (const { name, key, op, patch } of changes) {
    const table = sharedTables.find((shared) => shared.name === name)
    if (table === undefined || name === 'audit' || patch === null) continue
    const columns = columnsOf(sqlite, name).filter((column) => column in patch)
    const values = columns.map((column) => patch[column])
    if (op === 'put') sqlite.prepare(insertText(name, columns, 'or ignore')).run(values)
    else {
      const set = columns.map((column) => `${column} = ?`)
      const done = sqlite.prepare(`update ${name} set ${set} where ${whereKey(table)}`).run(values, ...readKey(key))
      if (done.changes > 0 && name === 'keys')
        sqlite.prepare('update keys set version = ? where id = ?').run(nextVersion(sqlite), ...readKey(key))
    }
  }
}

/** Whether the row is already what the change makes of it; of one that is not here yet nobody knows. */
export function holds(sqlite: Sqlite.Database, { name, key, op, patch }: RowChange): boolean {
  const table = sharedTables.find((shared) => shared.name === name)
  if (table === undefined || op === 'drop' || patch === null) return true
  const row = sqlite.prepare(`select * from ${name} where ${whereKey(table)}`).get(...readKey(key)) as Row | undefined
  return (
    row !== undefined && Object.entries(patch).every(([column, value]) => !(column in row) || row[column] === value)
  )
}

/** Every row that the nodes share, as it is here. `own`: with what each node finds for itself. */
export function exportRows(sqlite: Sqlite.Database, own = true): SharedRow[] {
  return sharedTables.flatMap((table) => {
    const pairs = columnsOf(sqlite, table.name)
      .filter((name) => own || !isOwnColumn(table, name))
      .map((name) => `'${name}', ${name}`)
    const text = `select ${keyText(table, '')} as key, json_object(${pairs.join(', ')}) as row from ${table.name}`
    const rows = sqlite.prepare(text).all() as { key: string; row: string }[]
    return rows.map(({ key, row }) => ({ name: table.name, key, row }))
  })
}

/** The rows of one table that become something else. */
class TableRows {
  readonly table: SharedTable
  /** Keys of rows that are no more. */
  readonly dropped: string[] = []
  readonly #sqlite: Sqlite.Database
  readonly #columns: string[]
  readonly #rows: { key: string; row: Row; isNew: boolean }[] = []
  readonly #keys: string[] = []

  constructor(sqlite: Sqlite.Database, table: SharedTable, given: readonly SharedRow[], isWhole: boolean) {
    this.table = table
    this.#sqlite = sqlite
    this.#columns = columnsOf(sqlite, table.name)
    const find = sqlite.prepare(`select * from ${table.name} where ${whereKey(table)}`)
    const named = new Set<string>()
    for (const { key, row } of given) {
      named.add(key)
      this.#keys.push(key)
      const known = find.get(...readKey(key)) as Row | undefined
      if (row === null) this.dropped.push(key)
      else this.#rows.push({ key, row: { ...JSON.parse(row), ...this.#ownOf(known) }, isNew: known === undefined })
    }
    if (!isWhole) return
    const all = sqlite.prepare(`select ${keyText(table, '')} as key from ${table.name}`).all() as { key: string }[]
    for (const { key } of all) if (!named.has(key)) this.dropped.push(key)
    this.#keys.push(...this.dropped.filter((key) => !named.has(key)))
  }

  get changed(): boolean {
    return this.#keys.length > 0
  }

  /** Of rows that were not here before. */
  get added(): Row[] {
    return this.#rows.filter(({ isNew }) => isNew).map(({ row }) => row)
  }

  remove(): void {
    const remove = this.#sqlite.prepare(`delete from ${this.table.name} where ${whereKey(this.table)}`)
    for (const key of this.#keys) remove.run(...readKey(key))
  }

  insert(version: number): void {
    const { name } = this.table
    const numbered = numberedTables.includes(name) ? { version } : {}
    for (const { row } of this.#rows) insertRow(this.#sqlite, name, this.#columns, { ...row, ...numbered })
  }

  #ownOf(known: Row | undefined): Row {
    if (known === undefined) return {}
    return Object.fromEntries((this.table.own ?? []).map((column) => [column, known[column]]))
  }
}

/** A column that this version does not know stays with the cluster; one that the row does not have gets its default. */
function insertRow(sqlite: Sqlite.Database, table: string, known: readonly string[], row: Row): void {
  const columns = known.filter((column) => column in row)
  sqlite.prepare(insertText(table, columns)).run(columns.map((column) => row[column]))
}

function insertText(table: string, columns: readonly string[], orIgnore = ''): string {
  return `insert ${orIgnore} into ${table} (${columns}) values (${columns.map(() => '?')})`
}

function readKey(key: string): unknown[] {
  return JSON.parse(key)
}

/** A part of a key may be null. */
function whereKey({ key }: SharedTable): string {
  return key.length === 0 ? 'true' : key.map((column) => `${column} is ?`).join(' and ')
}

function nextVersion(sqlite: Sqlite.Database): number {
  sqlite.exec('update key_version set version = version + 1')
  return Number(sqlite.prepare('select version from key_version').pluck().get())
}

/** A key whose secret changed is a key that changed, for who follows the key set. */
function numberKeysOf(sqlite: Sqlite.Database, secrets: readonly SharedRow[], version: number): void {
  const number = sqlite.prepare('update keys set version = ? where id = ?')
  for (const { key } of secrets) number.run(version, readKey(key)[0])
}

/** Line by line in their order; the trigger that keeps the chain refuses what does not continue it. */
function continueAudit(sqlite: Sqlite.Database, rows: readonly SharedRow[]): void {
  const known = sqlite.prepare('select hash from audit where sequence = ?').pluck()
  const lines = rows.flatMap(({ row }) => (row === null ? [] : [JSON.parse(row) as Row]))
  lines.sort((one, other) => Number(one.sequence) - Number(other.sequence))
  for (const line of lines) {
    const standing = known.get(line.sequence)
    if (standing === line.hash) continue
    if (standing !== undefined)
      throw new Error(`line ${line.sequence} of the audit trail differs between this node and the cluster`)
    insertRow(sqlite, 'audit', columnsOf(sqlite, 'audit'), line)
  }
}

/** A node that joins brings a trail of its own, of a few lines about its first start. */
function replaceAudit(sqlite: Sqlite.Database, rows: readonly SharedRow[]): void {
  const guard = sqlite
    .prepare("select sql from sqlite_master where type = 'trigger' and name = 'audit_is_never_cut'")
    .pluck()
    .get()
  sqlite.exec("drop trigger audit_is_never_cut; delete from audit; delete from sqlite_sequence where name = 'audit'")
  sqlite.exec(String(guard))
  continueAudit(sqlite, rows)
}

/** What a node keeps of its own about what has come, or gone. */
function followRemovals(sqlite: Sqlite.Database, tables: readonly TableRows[]): void {
  const remains: Record<string, readonly string[]> = {
    providers: ['provider_states where provider_id = ?', 'objects where provider_id = ?'],
    environments: ['objects where environment_id = ?'],
    alerts: ['alert_crossings where alert_id = ?', 'alert_deliveries where alert_id = ?'],
  }
  for (const { table, dropped } of tables)
    for (const remain of remains[table.name] ?? [])
      for (const key of dropped) sqlite.prepare(`delete from ${remain}`).run(...readKey(key))
  const note = sqlite.prepare(
    'insert or ignore into provider_states (provider_id, time, state, reason) values (?, ?, ?, ?)',
  )
  for (const row of tables.find(({ table }) => table.name === 'providers')?.added ?? []) {
    const { state, reason, since } = JSON.parse(String(row.readiness_json))
    note.run(row.id, since ?? row.created_at, state, reason)
  }
}
