/** Those with the text in one of their own, in whatever case. A whole key is looked for by its end, which is all that is known. */
export function filterRows<Row>(
  rows: readonly Row[],
  text: string,
  textsOf: (row: Row) => readonly (string | null)[],
): Row[] {
  const given = text.trim()
  const wanted = (/^sp_live_\w{4,}$/.test(given) ? given.slice(-4) : given).toLowerCase()
  return rows.filter((row) => textsOf(row).some((each) => each?.toLowerCase().includes(wanted) === true))
}
