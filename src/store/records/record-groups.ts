import { nanoOfUsd } from '../../core/cost/money.ts'
import { noGroup } from '../../core/record.ts'
import { maskKeys, mayHoldKey } from '../../core/secrets/mask-keys.ts'
import type { StatsBy } from '../api.ts'
import type { RecordLabelsRow } from '../schema.ts'
import { nameTags } from './record-json.ts'
import type { ScannedRow, SumRow } from './record-source.ts'

/** A record, or the sums of several that have all that groups are made of in common. */
export type CountedRow = ScannedRow | SumRow

export interface GroupName {
  id: string
  name: string
  /** Of a key, with its project and environment: others may have keys of the same name. */
  whole?: string
}

/** The groups that a record counts in: one, or with tags one for each of them. A group of keys is one key, whatever it was called. */
export function groupsOf(row: CountedRow, labels: RecordLabelsRow | undefined, by: StatsBy): GroupName[] {
  switch (by) {
    case 'day':
      return [plain(row.time.slice(0, 10))]
    case 'total':
      return [plain('total')]
    case 'status':
      return [plain(statusClass(row))]
    case 'error':
      return [plain(row.error_code ?? (isError(row) ? `status_${row.status}` : noGroup))]
    case 'route':
      return [plain(row.route ?? noGroup)]
    case 'node':
      return [plain(row.node ?? noGroup)]
    case 'tag':
      return tagsOf(row).map(plain)
    default:
      return [labelGroup(labels, by)]
  }
}

/** Whether a record's label alone decides in which group it counts. */
export function isOfLabel(by: StatsBy): boolean {
  return !['day', 'status', 'error', 'tag', 'route', 'node'].includes(by)
}

/** What a record's labels tell. */
type LabelGroup = 'key' | 'model' | 'provider' | 'project' | 'environment'

function labelGroup(labels: RecordLabelsRow | undefined, by: LabelGroup): GroupName {
  if (by !== 'key') return plain(labels?.[by] ?? noGroup)
  if (labels?.key_id == null) return plain(noGroup)
  const { key_id: id, key_name: name, project, environment } = labels
  return { id, name: name ?? noGroup, whole: [project, environment, name].join('/') }
}

/** A key whose name others have too says in every group which it is, unless the project beside it does. */
export function nameApart<Group extends { ids: string[]; names: string[]; wholes: string[] }>(
  groups: readonly Group[],
  ways: readonly StatsBy[] = ['key'],
): Group[] {
  const key = ways.indexOf('key')
  const nameOf = ({ names }: Group) => (ways.includes('project') ? names.join('\n') : names[key])
  const first = new Map<string | undefined, Group>()
  const shared = new Set<string | undefined>()
  for (const group of groups) {
    const other = first.getOrInsert(nameOf(group), group)
    // The scope of one key may have another name by now; a key that was made anew in its place is told by nothing.
    if (other.ids[key] !== group.ids[key] && other.wholes[key] !== group.wholes[key]) shared.add(nameOf(group))
  }
  return groups.map((group) => (shared.has(nameOf(group)) ? { ...group, names: group.wholes } : group))
}

function plain(name: string): GroupName {
  return { id: name, name }
}

export function countOf(row: CountedRow): number {
  return 'requests' in row ? row.requests : 1
}

/** Of a dollar; null: it has no price. */
export function spentNano(row: CountedRow): number | null {
  if ('requests' in row) return row.priced > 0 ? row.usd_nano : null
  return row.usd === null ? null : nanoOfUsd(row.usd)
}

/** What sums count as an error. */
export function isError({ error_code, status }: Pick<ScannedRow, 'error_code' | 'status'>): boolean {
  return error_code !== null || (status ?? 0) >= 400
}

/** `2xx`, or `2xx_error` where an answer that had begun broke off; without a status: in progress or interrupted. */
function statusClass(row: CountedRow): string {
  if (row.status === null) return row.state === 'settled' ? noGroup : row.state
  return `${Math.floor(row.status / 100)}xx${isError(row) && row.status < 400 ? '_error' : ''}`
}

function tagsOf(row: CountedRow): readonly string[] {
  if ('requests' in row) return [row.tag === undefined ? noGroup : mayHoldKey(row.tag) ? maskKeys(row.tag) : row.tag]
  const tags = row.tags ?? (row.record_json === undefined ? [] : nameTags(row.record_json))
  return tags.length === 0 ? [noGroup] : tags
}
