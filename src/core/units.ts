const durationUnits: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const sizeUnits: Record<string, number> = {
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
}

/** A hundred years: anything longer is a mistake, and no date can be computed from it. */
const longestDuration = 36_525 * 86_400_000

/** `250ms`, `5s`, `30m`, `24h`, `90d` in milliseconds; null when the text is no duration. */
export function parseDuration(text: string): number | null {
  const milliseconds = parseQuantity(text, /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/, durationUnits)
  return milliseconds !== null && milliseconds > longestDuration ? null : milliseconds
}

/** `64KB`, `100MB`, `2GB` (decimal), `KiB` and so on (binary), in bytes; null when the text is no size. */
export function parseSize(text: string): number | null {
  return parseQuantity(text, /^(\d+(?:\.\d+)?)(B|KB|MB|GB|KiB|MiB|GiB)$/, sizeUnits)
}

function parseQuantity(text: string, form: RegExp, units: Record<string, number>): number | null {
  const match = form.exec(text.trim())
  const unit = match?.[2] === undefined ? undefined : units[match[2]]
  return match?.[1] === undefined || unit === undefined ? null : Math.round(Number(match[1]) * unit)
}

/** The shortest exact form: 5000 → `5s`, 90061 → `90061ms`. */
export function formatDuration(milliseconds: number): string {
  return formatQuantity(milliseconds, durationUnits, 'ms')
}

/** As one writes it: `1MB` */
export function formatSize(bytes: number): string {
  return formatQuantity(bytes, { B: 1, KB: 1e3, MB: 1e6, GB: 1e9 }, 'B')
}

/** The same within a sentence or a table: `1 MB`. Exact, where `formatBytes` rounds: what is limited to it must fit. */
export function describeSize(bytes: number): string {
  return formatSize(bytes).replace(/(?=[A-Z])/, ' ')
}

function formatQuantity(amount: number, units: Record<string, number>, base: string): string {
  let best = base
  for (const [unit, factor] of Object.entries(units)) if (amount !== 0 && amount % factor === 0) best = unit
  return `${amount / (units[best] ?? 1)}${best}`
}

/** `200,000`, for a whole number. Avoids `Intl`, whose tables take 4 MB per thread. */
export function groupDigits(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}
