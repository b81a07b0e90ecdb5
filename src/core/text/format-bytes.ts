/** `940 B`, `1.3 MB`, `12 GB`: decimal, as disks are sold. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let amount = bytes
  let unit = 0
  while (amount >= 999.5 && unit < units.length - 1) {
    amount /= 1000
    unit++
  }
  return unit === 0 ? `${amount} B` : `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${units[unit]}`
}
