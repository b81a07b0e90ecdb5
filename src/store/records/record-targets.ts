import type { RecordFilter, TargetRow } from '../api.ts'
import type { Database } from '../schema.ts'
import { readHead } from './record-head.ts'
import { scanRecords } from './record-scan.ts'
import { RecordAdder } from './record-sums.ts'

/** Which provider and model the records were sent to last, busiest first; what was sent nowhere does not count. */
export async function recordTargets(
  db: Database,
  filter: RecordFilter,
  notIn: readonly string[],
): Promise<TargetRow[]> {
  const groups = new Map<string, { provider: string; upstream_model: string; adder: RecordAdder }>()
  for await (const { rows, labels } of scanRecords(db, filter, true))
    for (const row of rows) {
      const { provider = null, environment = null } = labels.get(row.label) ?? {}
      if (provider === null || (environment !== null && notIn.includes(environment))) continue
      const upstream_model = readHead(row.record_json ?? '', 'settled')?.upstream_model ?? ''
      const id = JSON.stringify([provider, upstream_model])
      const group = groups.get(id) ?? { provider, upstream_model, adder: new RecordAdder() }
      groups.set(id, group)
      group.adder.add(row)
    }
  const found = [...groups.values()].map(({ adder, ...target }) => ({ ...target, ...adder.finish() }))
  return found.sort((left, right) => right.requests - left.requests)
}
