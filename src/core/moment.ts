const form = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d))?$/

/**
 * A day (UTC), or a time with its zone (RFC 3339), in milliseconds since the epoch; null when the text is none. JavaScript
 * itself reads much more: 45 as the year 2045, and the 31st of February as a day in March.
 */
export function parseMoment(text: string): number | null {
  const [, year, month, day] = form.exec(text.trim()) ?? []
  if (year === undefined || month === undefined || day === undefined) return null
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return null
  const moment = Date.parse(text.trim().replace(/[t ]/, 'T').toUpperCase())
  return Number.isNaN(moment) ? null : moment
}
