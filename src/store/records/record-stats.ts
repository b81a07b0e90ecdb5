import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RecordFilter, StatsBy, StatsRow } from '../api.ts'
import { throwIfStopped } from '../cancellation.ts'
import type { RecordLabelsRow } from '../schema.ts'
import { type CountedRow, type GroupName, groupsOf, isOfLabel, nameApart } from './record-groups.ts'
import type { RecordSource } from './record-source.ts'
import { RecordAdder } from './record-sums.ts'

/** Tags are the clients' own words: there may be as many as records. */
const keptTags = 1000
/** Groups that are finished in one turn: models are the clients' own words, too. */
const finishedAtOnce = 2000
/** Made once: comparing with it takes a fraction of what `localeCompare` takes. */
const collator = new Intl.Collator()

/**
 * Summed here and not in SQL: the records are read window by window, and percentiles are not the same SQL on any two
 * engines. A group of keys is one key, under its latest name, with its scope where others have that name. What has no
 * such field counts under `-`. A record with several tags counts under each of them.
 */
export async function recordStats(
  source: RecordSource,
  filter: RecordFilter,
  by: StatsBy | StatsBy[],
): Promise<StatsRow[]> {
  const ways = [by].flat()
  const groups = new Map<string, Group>()
  const longest = ways.includes('day') ? 'day' : 'ever'
  // All rows of a label and the same tags, of one day, count in the same groups where nothing else decides.
  const decided = ways.every((way) => way === 'day' || way === 'tag' || isOfLabel(way))
  const known = new Map<unknown, Map<number, Group[]>>()
  let last = ''
  const question = { longest, by: ways, withLatencies: true } as const
  for await (const { rows, labels } of source.totals(filter, question)) {
    for (const row of rows) {
      const day = longest === 'day' ? row.time.slice(0, 10) : ''
      if (day !== last || known.size > keptTags) known.clear()
      last = day
      const tags = 'requests' in row ? row.tag : row.tags
      // Of some records only the text is there.
      const isKnown = decided && (tags !== undefined || !ways.includes('tag'))
      const byLabel = (isKnown && known.get(tags)) || new Map<number, Group[]>()
      const found = byLabel.get(row.label) ?? findGroups(groups, row, ways, labels)
      known.set(tags, byLabel.set(row.label, found))
      for (const { adder } of found) adder.add(row, labels.get(row.label))
    }
  }
  const rows: StatsRow[] = []
  for (const { id, names, adder } of nameApart([...groups.values()], ways)) {
    rows.push({ id, group: names.join(', '), groups: names, ...adder.finish() })
    if (rows.length % finishedAtOnce !== 0) continue
    await nextTurn()
    throwIfStopped()
  }
  const byDay = ways.indexOf('day')
  return rows.sort(
    (left, right) =>
      (byDay < 0 ? 0 : collator.compare(left.groups[byDay] ?? '', right.groups[byDay] ?? '')) ||
      right.requests - left.requests ||
      collator.compare(left.group, right.group),
  )
}

interface Group {
  id: string
  names: string[]
  /** For `nameApart`. */
  ids: string[]
  wholes: string[]
  /** The latest label, whose name a key has that was renamed. */
  label: number
  adder: RecordAdder
}

function findGroups(
  groups: Map<string, Group>,
  row: CountedRow,
  ways: readonly StatsBy[],
  labels: ReadonlyMap<number, RecordLabelsRow>,
): Group[] {
  return combine(ways.map((way) => groupsOf(row, labels.get(row.label), way))).map((found) => {
    const ids = found.map((one) => one.id)
    const id = ids.join('\n')
    const names = found.map(({ name }) => name)
    const wholes = ways.includes('key') ? found.map(({ name, whole }) => whole ?? name) : names
    const begin = () => ({ id, ids, names, wholes, label: row.label, adder: new RecordAdder() })
    const group = groups.getOrInsertComputed(id, begin)
    if (row.label > group.label) Object.assign(group, { names, wholes, label: row.label })
    return group
  })
}

/** Each group of the first way with each of the second. */
function combine(ways: readonly GroupName[][]): GroupName[][] {
  return ways.reduce<GroupName[][]>(
    (sofar, groups) => sofar.flatMap((one) => groups.map((group) => [...one, group])),
    [[]],
  )
}
