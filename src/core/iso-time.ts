import { flatText } from './flat-text.ts'

let second = { start: Number.NaN, text: '' }

/** Like `Date.prototype.toISOString`, of a time in milliseconds; what requests of one second share is found once. */
export function isoTime(milliseconds: number): string {
  const start = Math.floor(milliseconds / 1000) * 1000
  if (second.start !== start) second = { start, text: new Date(start).toISOString().slice(0, -4) }
  return flatText(second.text, String(milliseconds - start).padStart(3, '0'), 'Z')
}
