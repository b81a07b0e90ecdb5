const idForm = /^[a-z]+_[0-9a-z]{26}$/

/**
 * Those with the text in one of their own, in whatever case; an ID only begins with it, since any two letters are in some ID. A
 * whole key is looked for by its end, which is all that is known.
 */
export function filterRows<Row>(
  rows: readonly Row[],
  text: string,
  textsOf: (row: Row) => readonly (string | null)[],
): Row[] {
  const given = text.trim()
  const wanted = (/^sp_live_\w{4,}$/.test(given) ? given.slice(-4) : given).toLowerCase()
  const matches = (text: string) => (idForm.test(text) ? text.startsWith(wanted) : text.toLowerCase().includes(wanted))
  return rows.filter((row) => textsOf(row).some((each) => each !== null && matches(each)))
}
