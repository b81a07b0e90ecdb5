import type { Random } from './random.ts'

const hourMs = 3_600_000

/** Moments in order: days are busier than nights, weekends quieter than the week. */
export function* inventMoments(random: Random, count: number, from: number, until: number): Generator<number> {
  const hours = Math.max(1, Math.ceil((until - from) / hourMs))
  const weights = Array.from({ length: hours }, (_, hour) => weightOf(new Date(from + hour * hourMs)))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  let made = 0
  let owed = 0
  for (const [hour, weight] of weights.entries()) {
    owed += (weight / sum) * count
    const here = hour === hours - 1 ? count - made : Math.round(owed) - made
    const begin = from + hour * hourMs
    const length = Math.min(hourMs, until - begin)
    const moments = Array.from({ length: here }, () => Math.floor(begin + random.next() * length))
    yield* moments.sort((left, right) => left - right)
    made += here
  }
}

function weightOf(time: Date): number {
  const daily = 1.15 + Math.sin(((time.getUTCHours() - 8) / 24) * 2 * Math.PI)
  return daily * (time.getUTCDay() % 6 === 0 ? 0.4 : 1)
}
