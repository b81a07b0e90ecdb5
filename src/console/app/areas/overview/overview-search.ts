import { textIn } from '../../shell/address.ts'

/** What the overview shows, as its address says it. */
export interface OverviewSearch {
  /** A duration back from now, or a time. */
  since?: string
  /** A time; left out: now. */
  until?: string
  by?: Grouping
}

export const groupings = ['key', 'model', 'provider', 'project', 'tag', 'error', 'node'] as const
export type Grouping = (typeof groupings)[number]

export function readOverviewSearch(search: Record<string, unknown>): OverviewSearch {
  const by = groupings.find((word) => word === search.by)
  return { ...textIn(search, 'since'), ...textIn(search, 'until'), ...(by === undefined ? {} : { by }) }
}
