import type { RecordFilter, TargetRow } from '../api.ts'
import { AttemptAdder, attemptsOf } from './record-attempts.ts'
import { readHead } from './record-head.ts'
import type { RecordSource } from './record-source.ts'

/** Which provider and model attempts went to, busiest first; what was sent nowhere does not count. */
export async function recordTargets(
  source: RecordSource,
  filter: RecordFilter,
  notIn: readonly string[],
): Promise<TargetRow[]> {
  const groups = new Map<string, { provider: string; upstream_model: string; adder: AttemptAdder }>()
  for await (const { rows, labels } of source.records(filter, true))
    for (const row of rows) {
      const { provider = null, environment = null } = labels.get(row.label) ?? {}
      if (environment !== null && notIn.includes(environment)) continue
      const model = provider === null ? '' : (readHead(row.record_json ?? '', 'settled')?.upstream_model ?? '')
      for (const figure of attemptsOf(row, { provider, model })) {
        const { provider, model: upstream_model } = figure
        const id = JSON.stringify([provider, upstream_model])
        const begin = () => ({ provider, upstream_model, adder: new AttemptAdder() })
        groups.getOrInsertComputed(id, begin).adder.add(figure)
      }
    }
  const found = [...groups.values()].map(({ adder, ...target }) => ({ ...target, ...adder.finish() }))
  return found.sort((left, right) => right.tried - left.tried)
}
