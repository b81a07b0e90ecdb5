import { escapeControls } from '../../core/escape-controls.ts'
import { formatBytes } from '../../core/format-bytes.ts'
import type { Column } from './operation.ts'

export { escapeControls, formatBytes }

/** How a person wants times. */
export interface Clock {
  /** Milliseconds since the epoch, for ages. */
  now: number
  /** Absolute times instead of ages. */
  utc: boolean
}

/** What a value means for whoever looks; each surface has its own colour for it. */
export type Tone = 'strong' | 'quiet' | 'good' | 'bad' | 'warning'

export type Format = NonNullable<Column['format']>

export const absent = '–'

/** The value at a path like `key.name`, of each item where the path leads through a list; undefined where it ends early. */
export function valueAt(row: unknown, path: string): unknown {
  let place = row
  for (const step of path.split('.')) place = stepInto(place, step)
  return place
}

function stepInto(place: unknown, step: string): unknown {
  if (Array.isArray(place)) return place.map((item) => stepInto(item, step))
  return typeof place === 'object' && place !== null ? Reflect.get(place, step) : undefined
}

/** One value in words, without colour. Text from outside cannot move the cursor or change the terminal. */
export function formatValue(value: unknown, format: Format, view: Clock): string {
  if (value === null || value === undefined || value === '') return absent
  if (typeof value === 'number') return formatNumber(value, format)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) {
    const items = value.map((item) => (format === 'targets' ? formatTarget(item) : formatValue(item, 'text', view)))
    return items.length === 0 ? absent : items.join(', ')
  }
  if (typeof value === 'object') return formatObject(value, view)
  if (format === 'age') return formatTime(String(value), view)
  if (format === 'time') return formatMoment(String(value))
  return escapeControls(String(value))
}

/** One cell of a row, in words. */
export function formatCell(row: unknown, column: Column, view: Clock): string {
  const { also, unit, absent: missing = absent } = column
  const text = formatValue(mainValue(row, column), column.format ?? 'text', view)
  const main = text === absent ? missing : unit === undefined ? text : `${text} ${unit}`
  const more = also === undefined ? absent : formatValue(briefly(row, also), 'text', view)
  return also === undefined || more === absent ? main : `${main}${also.join}${more}`
}

/** A cell has room for a word, where there is one for what is otherwise a sentence. */
function briefly(row: unknown, { field, brief }: NonNullable<Column['also']>): unknown {
  return (brief === undefined ? null : valueAt(row, brief)) ?? valueAt(row, field)
}

function mainValue(row: unknown, { field, otherwise }: Column): unknown {
  const value = valueAt(row, field)
  return otherwise !== undefined && (value === null || value === undefined) ? valueAt(row, otherwise) : value
}

/** Its colour: what looks well and has something behind it is not. */
export function toneOfCell(row: unknown, column: Column): Tone | null {
  const { format = 'text', also } = column
  const tone = toneOf(mainValue(row, column), format)
  const more = also === undefined ? null : valueAt(row, also.field)
  return tone === 'good' && more !== null && more !== undefined ? 'bad' : tone
}

/** In the order in which they are tried, as `--target` takes them: `openai, azure:gpt4o-eu`. */
function formatTarget(target: unknown): string {
  const upstream = valueAt(target, 'upstream_model')
  const provider = String(valueAt(target, 'provider'))
  return escapeControls(typeof upstream === 'string' ? `${provider}:${upstream}` : provider)
}

function formatObject(value: object, view: Clock): string {
  const members = Object.entries(value).filter(([, member]) => member !== null)
  if (members.length === 0) return absent
  const { code, message } = value as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && typeof message === 'string') return escapeControls(`${code}: ${message}`)
  return members.map(([name, member]) => formatMember(name, member, view)).join(', ')
}

/** `3 requests`, `total 2 s`, `team=search` */
function formatMember(name: string, member: unknown, view: Clock): string {
  const format = guessFormat(name)
  const text = formatValue(member, format, view)
  if (typeof member !== 'number') return `${escapeControls(name)}=${text}`
  const title = escapeControls(withoutUnit(name).replaceAll('_', ' '))
  return format === 'number' ? `${text} ${title}` : `${title} ${text}`
}

/** For what nobody described: the stable field names say what a value is (`expires_at`, `duration_ms`). */
export function guessFormat(field: string): Format {
  if (/(^|_)(at|since)$|^time$/.test(field)) return 'age'
  if (/(^|_)ms$/.test(field)) return 'duration'
  if (/(^|_)bytes$/.test(field)) return 'bytes'
  if (/(^|_)usd$|^usd_per_/.test(field)) return 'money'
  if (/(^|_)share$/.test(field)) return 'share'
  if (/(^|_)(tokens|requests|errors)$/.test(field)) return 'number'
  if (field === 'state' || field === 'status') return 'state'
  return field === 'id' ? 'id' : 'text'
}

/** `duration_ms` → `duration`: the value carries its unit. */
export function withoutUnit(field: string): string {
  return field.replace(/_(ms|bytes|usd)$/, '')
}

function formatNumber(value: number, format: Format): string {
  if (format === 'duration') return formatMilliseconds(value)
  if (format === 'bytes') return formatBytes(value)
  if (format === 'money') return formatMoney(value)
  if (format === 'share') return formatShare(value)
  if (format === 'number') return groupDigits(value)
  return String(value)
}

/** Made by the first number: with it come 4 MB of tables, and `serve` reads this file too. */
let grouped: Intl.NumberFormat | undefined

/** `1,204` */
export function groupDigits(value: number): string {
  grouped ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 })
  return grouped.format(value)
}

/** `310 ms`, `1.2 s`, `3 min 20 s`, `2 h 5 min` */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  if (seconds < 3600) return joinUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  return joinUnits(Math.floor(seconds / 3600), 'h', Math.floor((seconds % 3600) / 60), 'min')
}

function joinUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

/** `0.4%`, `38%`, `< 0.1%` */
export function formatShare(share: number): string {
  const percent = share * 100
  if (percent > 0 && percent < 0.1) return '< 0.1%'
  return `${percent >= 10 || percent === 0 ? Math.round(percent) : percent.toFixed(1)}%`
}

/** As many digits as it needs to be non-zero: `$1.94`, `$0.0001`. */
export function formatMoney(usd: number): string {
  const size = Math.abs(usd)
  const digits = size === 0 || size >= 0.01 ? 2 : Math.min(12, Math.ceil(-Math.log10(size)))
  return `${usd < 0 ? '-' : ''}$${size.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

function formatTime(text: string, { now, utc }: Clock): string {
  const time = Date.parse(text)
  if (Number.isNaN(time)) return escapeControls(text)
  if (utc) return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
  const distance = now - time
  const amount = roughly(Math.abs(distance), distance >= 0 ? Math.floor : Math.round)
  if (amount === null) return 'now'
  return distance >= 0 ? `${amount} ago` : `in ${amount}`
}

/** `2026-11-21 10:00Z`: where ages would not tell one line from the next. */
function formatMoment(text: string): string {
  const time = Date.parse(text)
  if (Number.isNaN(time)) return escapeControls(text)
  const [date, clock = ''] = new Date(time).toISOString().split('T')
  return `${date} ${clock.replace(/(:00)?\.\d+Z$/, 'Z')}`
}

/** One unit: it is read at a glance. An age is rounded down; what is ahead is not, so that what was made for 30 days says so. */
function roughly(milliseconds: number, round: (amount: number) => number): string | null {
  const seconds = round(milliseconds / 1000)
  const minutes = round(seconds / 60)
  const hours = round(seconds / 3600)
  if (seconds < 1) return null
  if (seconds < 60) return `${seconds} s`
  if (minutes < 60) return `${minutes} min`
  return hours < 24 ? `${hours} h` : `${round(seconds / 86_400)} d`
}

/** Colour of a state or status, by its first word. Unknown words stay plain. */
export function toneOf(value: unknown, format: Format): Tone | null {
  if (value === null || value === undefined) return 'quiet'
  if (format !== 'state') return null
  if (typeof value === 'number') return value < 400 ? 'good' : value < 500 ? 'warning' : 'bad'
  if (typeof value === 'boolean') return value ? 'good' : 'quiet'
  return tones[/^[a-z_]+/i.exec(String(value))?.[0].toLowerCase() ?? ''] ?? null
}

const tones: Record<string, Tone> = {
  ready: 'good',
  active: 'good',
  enabled: 'good',
  ok: 'good',
  taken: 'good',
  unchecked: 'warning',
  degraded: 'warning',
  resting: 'warning',
  expiring: 'warning',
  failing: 'bad',
  failed: 'bad',
  interrupted: 'bad',
  expired: 'bad',
  revoked: 'quiet',
  inactive: 'quiet',
  disabled: 'quiet',
}
