import type { AdminClient } from '../../../../admin/client-link.ts'
import type { RequestRow } from '../../live/status-output.ts'

/** What `requests list` filters by. */
export type ListInput = Parameters<AdminClient['requests']['list']>[0]
type TailInput = Parameters<AdminClient['requests']['tail']>[0]

/** A tail has no past, so it knows no times; what is under way is shown before it ends. */
export function tailOf({
  since: _since,
  until: _until,
  limit: _limit,
  before: _before,
  ...filters
}: ListInput): TailInput {
  return { ...filters, allStates: true }
}

/** Rows pushed since the list was read, newest first. Each request is pushed twice: when it begins and when it ends. */
export interface Pushed {
  shown: readonly RequestRow[]
  /** Came while the list was held. */
  waiting: readonly RequestRow[]
}

export type PushAction =
  /** `isListed`: whether the list that was read has the request already. */
  | { rows: readonly RequestRow[]; held: boolean; isListed(id: string): boolean }
  /** The list has been read again since it was so: it has these rows where they belong now, or further back. */
  | { reread: Pushed }
  | 'release'
  | 'forget'

const mostWaiting = 1000
/** No more than those: a release of as many leaves a hole. */
const mostShown = mostWaiting

/** What is there already changes in its place, also while the list is held: only what is new can wait. */
export function push({ shown, waiting }: Pushed, action: PushAction): Pushed {
  if (action === 'forget') return { shown: [], waiting: [] }
  if (action === 'release') return { shown: [...waiting, ...shown], waiting: [] }
  if ('reread' in action) return leaveOut({ shown, waiting }, action.reread)
  const came = new Map(action.rows.map((row) => [row.id, row]))
  const renew = (rows: readonly RequestRow[]) => rows.map((row) => came.get(row.id) ?? row)
  const there = new Set([...shown, ...waiting].map(({ id }) => id))
  const others = [...came.values()].filter(({ id }) => !there.has(id)).reverse()
  const ended = others.filter(({ id }) => action.isListed(id))
  const begun = others.filter(({ id }) => !action.isListed(id))
  const kept = [...ended, ...renew(shown)]
  const next = [...begun, ...renew(waiting)]
  return action.held ? { shown: kept, waiting: next.slice(0, mostWaiting) } : { shown: [...next, ...kept], waiting: [] }
}

/** Each push costs as much as is shown, and of what waited the oldest was dropped: then the list is to be read again. */
export function isTooMuch({ shown }: Pushed): boolean {
  return shown.length >= mostShown
}

/** By row, not by request: one that has ended meanwhile has another, which the list may not know yet. */
function leaveOut({ shown, waiting }: Pushed, before: Pushed): Pushed {
  const known = new Set([...before.shown, ...before.waiting])
  const isNew = (row: RequestRow) => !known.has(row)
  return { shown: shown.filter(isNew), waiting: waiting.filter(isNew) }
}

/** One row per request, in its latest form. Rows that were read keep their place; newer ones are above them. */
export function joinRows(pushed: readonly RequestRow[], pages: readonly RequestRow[][]): RequestRow[] {
  const last = new Map(pushed.map((row) => [row.id, row]))
  const read = pages.flat()
  const listed = new Set(read.map(({ id }) => id))
  const come = pushed.filter(({ id }) => !listed.has(id))
  // What was pushed when it began can have been read again after its end.
  const inPlace = read.map((row) => {
    const newer = last.get(row.id)
    return newer === undefined || newer.state === 'admitted' ? row : newer
  })
  return [...new Map([...come, ...inPlace].map((row) => [row.id, row])).values()]
}

/** More at once nobody follows with the eye. */
const mostFresh = 50

/** Ids of the rows that came since the list was read. */
export function freshOf(pushed: readonly RequestRow[], listed: ReadonlySet<string>): ReadonlySet<string> {
  const newest = pushed.slice(0, mostFresh).map(({ id }) => id)
  return new Set(newest.filter((id) => !listed.has(id)))
}
