import { idTime, newId } from '../../core/ids.ts'

/** An id is made when its request arrives; `since` and `until` leave it this much room. */
export const idSlackMs = 60_000

/** The least id that a request of that moment could have. */
export function idAt(time: number): string {
  return newId('req', Math.max(0, time)).slice(0, timeLength)
}

const timeLength = 'req_'.length + 10
const leastRest = '0'.repeat(16)

/** The latest moment of what is below an id, or the beginning of one. */
export function timeOf(id: string): number {
  const begun = id.slice(0, timeLength)
  // A period of half a minute leaves out the last characters: its end is the greatest.
  const whole = begun.replace(/[^0-9a-z_]+$/, '').padEnd(timeLength, 'z')
  return idTime(whole + leastRest) ?? Number.POSITIVE_INFINITY
}
