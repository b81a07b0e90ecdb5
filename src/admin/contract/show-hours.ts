/** When a policy allows requests, as `keys usage` answers it. */
export interface ShownHours {
  policy: string
  hours: readonly string[]
  time_zone: string
  open: boolean
  opens_at: string | null
  closes_at: string | null
}

export function isShownHours(value: unknown): value is ShownHours {
  if (typeof value !== 'object' || value === null) return false
  return 'hours' in value && 'time_zone' in value && 'opens_at' in value && 'closes_at' in value
}

/** `Mon-Fri 08:00-18:00 (Europe/Berlin)` */
export function nameHours({ hours, time_zone }: ShownHours): string {
  return `${hours.join('; ')} (${time_zone})`
}

/** `Closed, opens in 2d`; `formatTime`: as a person wants it. */
export function describeOpen({ open, opens_at, closes_at }: ShownHours, formatTime: (time: string) => string): string {
  if (!open) return opens_at === null ? 'Closed' : `Closed, opens ${formatTime(opens_at)}`
  return closes_at === null ? 'Open' : `Open, closes ${formatTime(closes_at)}`
}

/** What `keys usage` answers of hours. */
export function hoursRows(answer: unknown): readonly ShownHours[] {
  const usages: readonly unknown[] = Array.isArray(answer) ? answer : []
  return usages
    .flatMap((usage): unknown => {
      const list: unknown = typeof usage === 'object' && usage !== null ? Reflect.get(usage, 'hours') : null
      return Array.isArray(list) ? list : []
    })
    .filter(isShownHours)
}
