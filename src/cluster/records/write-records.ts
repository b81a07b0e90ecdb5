import type pg from 'pg'
import { changeLatencies } from '../../store/records/latency-blob.ts'
import { sumAmounts } from '../../store/records/record-sum-keys.ts'
import { copyLine } from '../../store/replica/copy-text.ts'
import {
  type LabelledChange,
  labelColumns,
  type ShippedRecords,
  shippedColumns,
} from '../../store/replica/outbox-types.ts'
import { recordColumns } from '../schema/records.ts'
import { copyFrom } from './copy-query.ts'
import { LabelSums } from './label-sums.ts'

/** Records and their sums, in the transaction that is open. What is there already is a violation. */
export async function addRecords(client: pg.Client, { copied, sums }: ShippedRecords): Promise<void> {
  await copyFrom(client, `copy spgw.records (${recordColumns.join(', ')}) from stdin`, copied)
  await writeSums(client, sums)
}

/** The same for records of that node which may be there: what stood there goes, out of the sums as well. */
export async function replaceRecords(client: pg.Client, node: string, records: ShippedRecords): Promise<void> {
  if (records.ids.length === 0) return
  const before = new LabelSums()
  await takeOut(client, records.ids, before)
  await writeSums(client, before.take())
  await addRecords(client, records)
  await client.query('delete from spgw.record_sums where requests = 0 and node = $1', [node])
}

/** Each alone. */
export function splitRecords(node: string, { copied }: ShippedRecords): ShippedRecords[] {
  return readCopied(Buffer.from(copied).toString()).map(([_, ...values]) => {
    const row = values.map((value, column) =>
      value !== null && numeric.has(shippedColumns[column] ?? '') ? Number(value) : value,
    )
    const sums = new LabelSums()
    sums.add(node, row, 1)
    return { ids: [String(row[0])], copied: Buffer.from(`${copyLine([node, ...row])}\n`), sums: sums.take() }
  })
}

/**
 * Records of any nodes, and what they are in the sums, in the transaction that is open. Nobody may ship meanwhile. Returns how
 * many were still there.
 */
export async function removeRecords(client: pg.Client, ids: readonly string[]): Promise<number> {
  const sums = new LabelSums()
  const removed = await takeOut(client, ids, sums)
  await writeSums(client, sums.take())
  await client.query('delete from spgw.record_sums where requests = 0')
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

/** As a number and not as text: none of them is beyond what a number holds. */
const wide = new Set<string>(['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'repeats'])
const numeric = new Set<string>([...wide, 'shadow', 'status', 'usd', 'duration_ms', 'first_byte_ms'])

export function readColumn(name: string): string {
  return wide.has(name) ? `${name}::float8 as ${name}` : name
}

/** No two nodes have a row of sums in common, so that what is read here is what is written to. */
export async function writeSums(client: pg.Client, unsorted: readonly LabelledChange[]): Promise<void> {
  if (unsorted.length === 0) return
  // In one order for everybody.
  const changes = unsorted.toSorted((one, other) => (sortKey(one) < sortKey(other) ? -1 : 1))
  const keys = [
    changes.map(({ change: { key } }) => key[0]),
    changes.map(({ change: { key } }) => key[1]),
    changes.map(({ node }) => node),
    changes.map(({ label }) => label),
    changes.map(({ change: { key } }) => key[3]),
    changes.map(({ change: { key } }) => key[4]),
    changes.map(({ change: { key } }) => key[5]),
  ]
  const { rows } = await client.query<{ place: string; latencies: Buffer | null }>(
    `select k.place, s.latencies from ${unnested(keyTypes)} with ordinality as k (${keyNames}, place)
     join spgw.record_sums s using (span, start, node, state, status, error_code) where s.label = md5(k.text)`,
    keys,
  )
  const known = new Map(rows.map(({ place, latencies }) => [Number(place) - 1, latencies]))
  const latencies = changes.map(({ change }, place) => changeLatencies(known.get(place) ?? null, change.latencies))
  const names = [...labelColumns, ...sumAmounts]
  await client.query(
    `insert into spgw.record_sums (span, start, node, label, state, status, error_code, ${names}, latencies)
     select span, start, node, md5(text), state, status, error_code, ${names}, latencies
     from ${unnested([...keyTypes, ...labelTypes, ...sumAmounts.map(() => 'bigint'), 'bytea'])}
       as k (${keyNames}, ${names}, latencies)
     on conflict (span, start, node, label, state, status, error_code) do update set latencies = excluded.latencies,
       ${sumAmounts.map((name) => `${name} = record_sums.${name} + excluded.${name}`).join(', ')}`,
    [
      ...keys,
      ...labelColumns.map((_, column) => changes.map(({ values }) => values[column] ?? null)),
      ...sumAmounts.map((name) => changes.map(({ change }) => change[name])),
      latencies,
    ],
  )
}

function sortKey({ node, label, change: { key } }: LabelledChange): string {
  const [span, start, , state, status, error] = key
  return [span, start, node, label, state, status, error].join('\n')
}

const keyNames = 'span, start, node, text, state, status, error_code'
const keyTypes = ['text', 'text', 'text', 'text', 'text', 'int', 'text']
const labelTypes = labelColumns.map((name) => (name === 'shadow' ? 'smallint' : 'text'))

function unnested(types: readonly string[]): string {
  return `unnest(${types.map((type, place) => `$${place + 1}::${type}[]`).join(', ')})`
}

const undone: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** The values of lines as `COPY` takes them, numbers as texts too. */
export function readCopied(text: string): (string | null)[][] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t').map((value) => (value === '\\N' ? null : readValue(value))))
}

function readValue(value: string): string {
  return value.replace(/\\(.)/g, (_, letter: string) => undone[letter] ?? letter)
}
