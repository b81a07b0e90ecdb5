/** Made by the first number: with it come 4 MB of tables, and `serve` reads this file too. */
let grouped: Intl.NumberFormat | undefined

/** `1,204` */
export function groupDigits(value: number): string {
  grouped ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 })
  return grouped.format(value)
}

/** `310 ms`, `1.2 s`, `3 min 20 s`, `2 h 5 min`, `7 d` */
export function formatMilliseconds(milliseconds: number): string {
  // A gateway's own part is often less than one.
  if (milliseconds > 0 && milliseconds < 0.05) return '< 0.1 ms'
  if (milliseconds < 9.95) return `${Math.round(milliseconds * 10) / 10} ms`
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 3600) return joinUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  if (seconds < 48 * 3600) return joinUnits(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min')
  return joinUnits(Math.floor(seconds / 86_400), 'd', Math.floor((seconds % 86_400) / 3600), 'h')
}

function joinUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

/** `0.4%`, `38%`, `< 0.1%`, `99.6%`: only all of it is 100%. */
export function formatShare(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return '< 0.1%'
  if (percent > 99.4 && percent < 100)
    return percent > 99.9 ? '> 99.9%' : `${(Math.floor(percent * 10) / 10).toFixed(1)}%`
  return `${percent >= 9.95 || percent === 0 ? Math.round(percent) : percent.toFixed(1)}%`
}

/** All its digits, since it is multiplied by millions, and cents at least: `$0.075`, `$10.00`. */
export function formatRate(usd: number): string {
  return `${usd < 0 ? '-' : ''}$${Math.abs(usd).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 12 })}`
}

/** Points stand under one another where there are so many digits behind them: one tiny amount does not push all others aside. */
export const mostAligned = 4

/** Digits behind the point of a written amount; null: it is none. */
export function fractionOf(text: string): number | null {
  const found = /^-?\$[\d,]+(?:\.(\d+))?$/.exec(text)
  return found === null ? null : (found[1]?.length ?? 0)
}

/** Digits behind the point for which a column of amounts keeps room. */
export function alignedDigits(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, Math.min(mostAligned, fractionOf(text) ?? 0)), 0)
}

/** What an amount lacks on its right so that its point stands under those of others. */
export function missingDigits(text: string, aligned: number): number {
  return Math.max(0, aligned - (fractionOf(text) ?? aligned))
}

/** As many digits as it takes to be true: `$1.94`, `$0.0051`, `$0.00000381`. */
export function formatMoney(usd: number): string {
  const size = Math.abs(usd)
  const digits = moneyDigits(usd)
  return `${usd < 0 ? '-' : ''}$${size.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/** Below a dollar. Above, cents are shown. */
const significantDigits = 3

/** Digits behind the point of an amount: all that it has where they are few, as those that people set; else it is rounded. */
export function moneyDigits(usd: number): number {
  const size = Math.abs(usd)
  const rounded = size === 0 || size >= 1 ? 2 : Math.min(12, significantDigits - 1 - Math.floor(Math.log10(size)))
  for (let digits = 2; digits <= Math.min(12, Math.max(4, rounded + 1)); digits++)
    if (Number(size.toFixed(digits)) === Number(size.toPrecision(15))) return digits
  return Math.max(2, size.toFixed(rounded).replace(/0+$/, '').split('.')[1]?.length ?? 0)
}
