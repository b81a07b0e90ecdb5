import type pg from 'pg'
import { copyLine } from '../../store/replica/copy-text.ts'
import { type ShippedRecords, shippedColumns } from '../../store/replica/outbox-types.ts'
import { recordColumns } from '../schema/records.ts'
import { copyFrom } from './copy-query.ts'
import { LabelSums } from './label-sums.ts'
import { removeEmptySums, writeSums } from './write-sums.ts'

/** Inserts records and their sums in the open transaction. An existing record is an error. */
export async function addRecords(client: pg.Client, { copied, sums, tags }: ShippedRecords): Promise<void> {
  await copyFrom(client, `copy spgw.records (${recordColumns.join(', ')}) from stdin`, copied)
  await writeSums(client, { sums, tags })
}

/** The same for records of that node which may exist: they are replaced, also in the sums. */
export async function replaceRecords(client: pg.Client, node: string, records: ShippedRecords): Promise<void> {
  if (records.ids.length === 0) return
  const before = new LabelSums()
  await takeOut(client, records.ids, before)
  const changes = before.take()
  await writeSums(client, changes)
  await addRecords(client, records)
  await removeEmptySums(client, changes, node)
}

/** Splits them into single records. */
export function splitRecords(node: string, { copied }: ShippedRecords): ShippedRecords[] {
  return readCopied(Buffer.from(copied).toString()).map(([_, ...values]) => {
    const row = values.map((value, column) =>
      value !== null && numeric.has(shippedColumns[column] ?? '') ? Number(value) : value,
    )
    const sums = new LabelSums()
    sums.add(node, row, 1)
    return { ids: [String(row[0])], copied: Buffer.from(`${copyLine([node, ...row])}\n`), ...sums.take() }
  })
}

/** Removes records of any nodes, also from the sums, in the open transaction, during which no node may ship. Returns how many existed. */
export async function removeRecords(client: pg.Client, ids: readonly string[]): Promise<number> {
  const sums = new LabelSums()
  const removed = await takeOut(client, ids, sums)
  const changes = sums.take()
  await writeSums(client, changes)
  await removeEmptySums(client, changes, null)
  return removed
}

async function takeOut(client: pg.Client, ids: readonly string[], sums: LabelSums): Promise<number> {
  const { rows } = await client.query<(string | number | null)[]>({
    text: `delete from spgw.records where id = any ($1) returning node, ${shippedColumns.map(readColumn).join(', ')}`,
    values: [ids],
    rowMode: 'array',
  })
  for (const [of, ...row] of rows) sums.add(String(of), row, -1)
  return rows.length
}

/** Sent as numbers, not as text: none exceeds what a number can hold. */
const wide = new Set<string>(['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'repeats'])
const numeric = new Set<string>([...wide, 'shadow', 'status', 'usd', 'duration_ms', 'first_byte_ms'])

export function readColumn(name: string): string {
  return wide.has(name) ? `${name}::float8 as ${name}` : name
}

const undone: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** The values of lines in the format of `COPY`, with numbers as text too. */
export function readCopied(text: string): (string | null)[][] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t').map((value) => (value === '\\N' ? null : readValue(value))))
}

function readValue(value: string): string {
  return value.replace(/\\(.)/g, (_, letter: string) => undone[letter] ?? letter)
}
