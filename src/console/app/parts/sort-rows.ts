export type SortValue = number | string | null | undefined

/** What has no value comes last, whichever way it is sorted. */
export function sortRows<Row>(rows: readonly Row[], read: (row: Row) => SortValue, descending: boolean): Row[] {
  const keyed = rows.map((row) => ({ row, value: read(row) ?? null }))
  keyed.sort((left, right) => {
    if (left.value === null || right.value === null) return Number(left.value === null) - Number(right.value === null)
    const order =
      typeof left.value === 'number' && typeof right.value === 'number'
        ? left.value - right.value
        : String(left.value).localeCompare(String(right.value), 'en', { numeric: true })
    return descending ? -order : order
  })
  return keyed.map(({ row }) => row)
}
