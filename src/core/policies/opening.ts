/** Minutes of a week, from Monday's midnight on. `end` is later than the week where the opening goes on into Monday. */
export interface Opening {
  start: number
  end: number
}

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']
const dayMinutes = 24 * 60
const weekMinutes = 7 * dayMinutes

/**
 * `Mon-Fri 08:00-18:00`, `Sat,Sun 10:00-24:00`, `22:00-06:00`: days (default: all) and the time on each of them, which may go on
 * past midnight. Null: it is not written so.
 */
export function parseOpening(text: string): Opening[] | null {
  const [, words, startText = '', endText = ''] = /^(?:(\S+) +)?(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text.trim()) ?? []
  const days = words === undefined ? dayNames.map((_, day) => day) : parseDays(words)
  const [start, end] = [parseTime(startText), parseTime(endText)]
  if (days === null || start === null || end === null || start === end || start === dayMinutes) return null
  const length = end > start ? end - start : end + dayMinutes - start
  return days.map((day) => ({ start: day * dayMinutes + start, end: day * dayMinutes + start + length }))
}

function parseDays(words: string): number[] | null {
  const days = new Set<number>()
  for (const word of words.toLowerCase().split(',')) {
    const [first = -1, last = first, ...more] = word.split('-').map((name) => dayNames.indexOf(name))
    if (first < 0 || last < 0 || more.length > 0) return null
    for (let day = first; ; day = (day + 1) % 7) {
      days.add(day)
      if (day === last) break
    }
  }
  return [...days]
}

function parseTime(text: string): number | null {
  const [hours = Number.NaN, minutes = Number.NaN] = text.split(':').map(Number)
  const time = hours * 60 + minutes
  return minutes < 60 && time <= dayMinutes ? time : null
}

/** Whether one of them is open in a minute of the week. */
export function isOpen(openings: readonly Opening[], minute: number): boolean {
  return openings.some(({ start, end }) => {
    const since = (minute - start + weekMinutes) % weekMinutes
    return since < end - start
  })
}

/** When the next one opens, such as `Mon 08:00`. */
export function nextOpening(openings: readonly Opening[], minute: number): string {
  const wait = Math.min(...openings.map(({ start }) => (start - minute + weekMinutes) % weekMinutes))
  const next = (minute + wait) % weekMinutes
  const name = dayNames[Math.floor(next / dayMinutes)] ?? ''
  const [hours, minutes] = [Math.floor((next % dayMinutes) / 60), next % 60].map((part) =>
    String(part).padStart(2, '0'),
  )
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} ${hours}:${minutes}`
}
