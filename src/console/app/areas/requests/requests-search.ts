import { textIn } from '../../shell/address.ts'

/** The filters of `requests list`, in the address, so that a link shows the same list. */
export const filterNames = [
  'key',
  'model',
  'provider',
  'status',
  'error',
  'errors',
  'slowerThan',
  'fellBack',
  'failedAt',
  'lane',
  'route',
  'state',
  'node',
  'id',
  'tag',
  'since',
  'until',
] as const
export type FilterName = (typeof filterNames)[number]

export type RequestsSearch = { [Name in FilterName]?: string }

export function readRequestsSearch(search: Record<string, unknown>): RequestsSearch {
  return Object.assign({}, ...filterNames.map((name) => textIn(search, name)))
}
