import { roundUsd } from '../../../core/cost/money.ts'
import { namesOf } from '../../../policy/prices/find-price.ts'
import type { Reconciled } from '../../contract/cost.ts'
import type { AdminContext } from '../context.ts'
import { invalid } from '../fault.ts'
import { findProvider } from '../find.ts'
import { readUsageExport } from './read-usage-export.ts'

const pageRecords = 500
const dayMs = 24 * 60 * 60 * 1000

interface ReconcileInput {
  files: Record<string, string>
  provider: string
}

/** By day (UTC) and model, under the plainest name of each: exports often name the dated model behind an alias. */
export async function reconcileCost(context: AdminContext, { files, provider }: ReconcileInput): Promise<Reconciled[]> {
  const { name } = await findProvider(context, provider)
  const exported = Object.entries(files).flatMap(([file, text]) => readUsageExport(file, text))
  if (exported.length === 0)
    throw invalid('The export has no lines.', 'Download the usage of each day by model as CSV.')
  const rows = new Map<string, Reconciled>()
  const rowOf = (day: string, model: string) => {
    const plain = namesOf(model).at(-1) ?? model
    const key = `${day}\n${plain}`
    const row = rows.get(key) ?? blankRow(day, plain)
    rows.set(key, row)
    return row
  }
  for (const { day, model, requests, input, output, usd } of exported) {
    const row = rowOf(day, model)
    row.provider_requests = add(row.provider_requests, requests)
    row.provider_input = add(row.provider_input, input)
    row.provider_output = add(row.provider_output, output)
    row.provider_usd = add(row.provider_usd, usd)
  }
  const days = exported.map(({ day }) => day).sort()
  await addRecorded(context, { name, first: days[0] ?? '', last: days.at(-1) ?? '' }, rowOf)
  const says = {
    usd: exported.some(({ usd }) => usd !== null),
    tokens: exported.some(({ input, output }) => input !== null || output !== null),
  }
  for (const row of rows.values()) compare(row, says)
  return [...rows.values()].sort((a, b) => a.day.localeCompare(b.day) || a.model.localeCompare(b.model))
}

/** Days without a line in the export count, too: whatever is missing there is the point of it. */
async function addRecorded(
  { store, runtime }: AdminContext,
  { name, first, last }: { name: string; first: string; last: string },
  rowOf: (day: string, model: string) => Reconciled,
): Promise<void> {
  await runtime.ingest()
  const until = new Date(Date.parse(last) + dayMs).toISOString()
  const filter = { provider: name, since: `${first}T00:00:00.000Z`, until }
  let before: string | undefined
  for (let more = true; more; ) {
    const page = await store.records.list({
      ...filter,
      ...(before === undefined ? {} : { before }),
      limit: pageRecords,
    })
    for (const { time, upstream_model, state, tokens, cost } of page) {
      if (state === 'admitted' || upstream_model === null || (tokens === null && cost === null)) continue
      const row = rowOf(time.slice(0, 10), upstream_model)
      row.requests++
      row.input += tokens?.input ?? 0
      row.output += tokens?.output ?? 0
      row.usd = add(row.usd, cost?.usd ?? null)
    }
    before = page.at(-1)?.id
    more = page.length === pageRecords
  }
}

function blankRow(day: string, model: string): Reconciled {
  const theirs = { provider_requests: null, provider_input: null, provider_output: null, provider_usd: null }
  const ours = { requests: 0, input: 0, output: 0, usd: null }
  return { day, model, ...ours, ...theirs, difference_usd: null, difference_tokens: null }
}

function add(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : roundUsd(one + other)
}

/** Where an export says what others cost, one that it does not name has cost nothing there. */
function compare(row: Reconciled, says: { usd: boolean; tokens: boolean }): void {
  const { usd, provider_usd, input, output, provider_input, provider_output } = row
  if (says.usd) row.difference_usd = roundUsd((usd ?? 0) - (provider_usd ?? 0))
  if (says.tokens) row.difference_tokens = input + output - (provider_input ?? 0) - (provider_output ?? 0)
}
