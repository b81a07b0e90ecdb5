/** Only a record's own text tells these: a search reads one after the other, and may take long. */
const slowFilters = ['slowerThan', 'fellBack', 'failedAt', 'route', 'tags', 'id']

/** Whether that list of requests is asked for page by page (`requests.search`). */
export function isSearch(name: string, input: object): boolean {
  return (
    name === 'requests.list' && slowFilters.some((filter) => ![undefined, false].includes(Reflect.get(input, filter)))
  )
}
