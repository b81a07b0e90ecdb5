/** 12,400 → `12.4k`, 21,258,245 → `21.3M`: where there is little room. */
export function compactNumber(value: number): string {
  // From here on, thousands would be rounded to `1000k`.
  if (value >= 999_500) return `${trim(value / 1e6)}M`
  if (value >= 10_000) return `${trim(value / 1e3)}k`
  return value >= 1000 ? value.toLocaleString('en-US') : trim(value)
}

function trim(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0).replace(/\.0$/, '')
}
