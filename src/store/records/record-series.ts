import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordFilter, SeriesGroup, SeriesPoint, SeriesQuestion } from '../api.ts'
import type { RecordLabelsRow } from '../schema.ts'
import { RecordClock } from './record-clock.ts'
import { type CountedRow, countOf, type GroupName, groupsOf, nameApart } from './record-groups.ts'
import { isShadow, type RecordSource } from './record-source.ts'
import { RecordAdder } from './record-sums.ts'
import { longestWithin, momentOf } from './sum-spans.ts'

/** What the groups are together that are not among the busiest. */
const rest = 'other'

/**
 * Records summed step by step, in the order of time, every step present. The busiest groups are told apart, which are
 * found first: models and tags are the clients' own words, and each group costs a sum a step.
 */
export async function recordSeries(
  source: RecordSource,
  filter: RecordFilter,
  question: SeriesQuestion,
): Promise<SeriesGroup[]> {
  const { by, from, stepMs, steps } = question
  const names = await busiestGroups(source, filter, question)
  const groups = new Map([...names].map(([id, name]) => [id, new SeriesAdder(name, steps)]))
  let others: SeriesAdder | null = null
  const clock = new RowClock()
  // Of a record with several tags that are not told apart, `other` counts one: sums by tag do not know it.
  const longest = by === 'tag' && names.size >= question.most ? null : longestWithin(from, stepMs)
  const scan = { longest, by: [by], withLatencies: true }
  for await (const { rows, labels } of source.totals(filter, scan)) {
    for (const row of rows) {
      const step = Math.floor((clock.read(row) - from) / stepMs)
      const found = groupsOf(row, labels.get(row.label), by)
      const known = found.flatMap(({ id }) => groups.get(id) ?? [])
      const label = labels.get(row.label)
      for (const group of known) group.add(step, row, label)
      // Once, however many of its tags are not told apart; a tag that has come since they were counted is seen the next time.
      if (known.length === found.length || (by === 'tag' && longest !== null)) continue
      others ??= new SeriesAdder(rest, steps)
      others.add(step, row, label)
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
  source: RecordSource,
  filter: RecordFilter,
  { by, most }: SeriesQuestion,
): Promise<Map<string, string>> {
  if (by === 'total') return new Map([['total', 'total']])
  const busiest = [...(await countGroups(source, filter, by))].sort(
    ([one, left], [other, right]) => right.count - left.count || one.localeCompare(other),
  )
  const named = nameApart(
    busiest.map(([id, { name, whole }]) => ({ id, ids: [id], names: [name], wholes: [whole ?? name] })),
  )
  return new Map(named.slice(0, most).map(({ id, names }) => [id, names.join()]))
}

interface GroupCount extends Pick<GroupName, 'name' | 'whole'> {
  count: number
  /** The latest label: a key that was renamed has several. */
  label: number
}

async function countGroups(
  source: RecordSource,
  filter: RecordFilter,
  by: SeriesQuestion['by'],
): Promise<Map<string, GroupCount>> {
  const groups = new Map<string, GroupCount>()
  const scan = { longest: 'ever', by: [by], withLatencies: false } as const
  for await (const { rows, labels } of source.totals(filter, scan))
    for (const row of rows)
      for (const { id, ...name } of groupsOf(row, labels.get(row.label), by)) {
        const group = groups.getOrInsertComputed(id, () => ({ ...name, count: 0, label: row.label }))
        if (!isShadow(labels, row)) group.count += countOf(row)
        if (row.label > group.label) Object.assign(group, { ...name, label: row.label })
      }
  return groups
}

/** Rows of sums come span by span, and records nearly in order. */
class RowClock {
  readonly #records = new RecordClock()
  #start = ''
  #moment = 0

  read(row: CountedRow): number {
    if (!('requests' in row)) return this.#records.read(row.time)
    if (row.time !== this.#start) {
      this.#start = row.time
      this.#moment = momentOf(row.time)
    }
    return this.#moment
  }
}

class SeriesAdder {
  readonly #name: string
  readonly #steps: (RecordAdder | undefined)[]

  constructor(name: string, steps: number) {
    this.#name = name
    this.#steps = new Array<RecordAdder | undefined>(steps).fill(undefined)
  }

  /** Outside of the steps nothing is counted. */
  add(step: number, row: CountedRow, label: RecordLabelsRow | undefined): void {
    if (step < 0 || step >= this.#steps.length) return
    this.#steps[step] ??= new RecordAdder()
    this.#steps[step].add(row, label)
  }

  finish(from: number, stepMs: number): SeriesGroup {
    const points = this.#steps.map((adder, step) => pointOf(from + step * stepMs, adder ?? new RecordAdder()))
    return { group: this.#name, points }
  }
}

function pointOf(time: number, adder: RecordAdder): SeriesPoint {
  const { shadows, interrupted, interrupted_tokens, cache_read, cache_write, reasoning, ...point } = adder.finish()
  return { time: new Date(time).toISOString(), ...point }
}
