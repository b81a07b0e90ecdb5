import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordFilter, SeriesGroup, SeriesPoint, SeriesQuestion } from '../api.ts'
import type { Database } from '../schema.ts'
import { RecordClock } from './record-clock.ts'
import { groupsOf, type LabelGroup, labelGroup } from './record-groups.ts'
import { countLabels, type ScannedRow, scanRecords } from './record-scan.ts'
import { RecordAdder } from './record-sums.ts'

/** What the groups are together that are not among the busiest. */
const rest = 'other'

/**
 * Records summed step by step, in the order of time, every step present. The busiest groups are told apart, which are
 * found first: models and tags are the clients' own words, and each group costs a sum a step.
 */
export async function recordSeries(
  db: Database,
  filter: RecordFilter,
  question: SeriesQuestion,
): Promise<SeriesGroup[]> {
  const { by, from, stepMs, steps } = question
  const names = await busiestGroups(db, filter, question)
  const groups = new Map([...names].map(([id, name]) => [id, new SeriesAdder(name, steps)]))
  let others: SeriesAdder | null = null
  const clock = new RecordClock()
  for await (const { rows, labels } of scanRecords(db, filter, by === 'tag')) {
    for (const row of rows) {
      const step = Math.floor((clock.read(row.time) - from) / stepMs)
      const found = groupsOf(row, labels.get(row.label), by)
      const known = found.flatMap(({ id }) => groups.get(id) ?? [])
      for (const group of known) group.add(step, row)
      // Once, however many of its tags are not told apart.
      if (known.length === found.length) continue
      others ??= new SeriesAdder(rest, steps)
      others.add(step, row)
    }
  }
  const all = [...groups.values(), ...(others === null ? [] : [others])]
  const finished: SeriesGroup[] = []
  for (const group of all) {
    finished.push(group.finish(from, stepMs))
    await nextTurn()
  }
  return finished
}

/** By id, busiest first. */
async function busiestGroups(
  db: Database,
  filter: RecordFilter,
  { by, most }: SeriesQuestion,
): Promise<Map<string, string>> {
  if (by === 'total') return new Map([['total', 'total']])
  const counts = isOfLabels(by) ? await countGroups(db, filter, by) : await countRows(db, filter, by)
  const busiest = [...counts].sort(
    ([one, left], [other, right]) => right.count - left.count || one.localeCompare(other),
  )
  return new Map(busiest.slice(0, most).map(([id, { name }]) => [id, name]))
}

function isOfLabels(by: SeriesQuestion['by']): by is LabelGroup {
  return by === 'key' || by === 'model' || by === 'provider' || by === 'project' || by === 'environment'
}

type GroupCounts = Map<string, { name: string; count: number }>

async function countGroups(db: Database, filter: RecordFilter, by: LabelGroup): Promise<GroupCounts> {
  const groups: GroupCounts = new Map()
  const { labels, counts } = await countLabels(db, filter)
  // A key that was renamed has several labels: the latest has its name.
  const latestFirst = [...counts].sort(([left], [right]) => right - left)
  for (const [label, count] of latestFirst) addCount(groups, labelGroup(labels.get(label), by), count)
  return groups
}

/** What is on each record itself, and not on its label. */
async function countRows(db: Database, filter: RecordFilter, by: 'tag' | 'status' | 'error'): Promise<GroupCounts> {
  const groups: GroupCounts = new Map()
  for await (const { rows } of scanRecords(db, filter, by === 'tag'))
    for (const row of rows) for (const group of groupsOf(row, undefined, by)) addCount(groups, group, 1)
  return groups
}

function addCount(groups: GroupCounts, { id, name }: { id: string; name: string }, count: number): void {
  const known = groups.get(id)
  if (known === undefined) groups.set(id, { name, count })
  else known.count += count
}

class SeriesAdder {
  readonly #name: string
  readonly #steps: (RecordAdder | undefined)[]

  constructor(name: string, steps: number) {
    this.#name = name
    this.#steps = new Array<RecordAdder | undefined>(steps).fill(undefined)
  }

  /** Outside of the steps nothing is counted. */
  add(step: number, row: ScannedRow): void {
    if (step < 0 || step >= this.#steps.length) return
    this.#steps[step] ??= new RecordAdder()
    this.#steps[step].add(row)
  }

  finish(from: number, stepMs: number): SeriesGroup {
    const points = this.#steps.map((adder, step) => pointOf(from + step * stepMs, adder ?? new RecordAdder()))
    return { group: this.#name, points }
  }
}

function pointOf(time: number, adder: RecordAdder): SeriesPoint {
  const sums = adder.finish()
  return {
    time: new Date(time).toISOString(),
    requests: sums.requests,
    errors: sums.errors,
    input: sums.input,
    output: sums.output,
    usd: sums.usd,
    duration_p50_ms: sums.duration_p50_ms,
    duration_p95_ms: sums.duration_p95_ms,
    duration_p99_ms: sums.duration_p99_ms,
    first_byte_p50_ms: sums.first_byte_p50_ms,
    first_byte_p95_ms: sums.first_byte_p95_ms,
  }
}
