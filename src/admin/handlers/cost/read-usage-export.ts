import { parseCsv } from '../../../core/text/csv.ts'
import { invalid } from '../fault.ts'

/** One line of a provider's export. What a file has no column for is null. */
export interface ExportedUsage {
  /** `YYYY-MM-DD`, UTC. */
  day: string
  model: string
  requests: number | null
  input: number | null
  output: number | null
  usd: number | null
}

/**
 * Columns by what they are called in the exports of OpenAI, Anthropic and Google, usage and cost alike, with the spellings that other
 * vendors use; the first that a file has is taken, of `inputParts` all. Compared without case, blanks and punctuation.
 */
const columns = {
  day: [
    'usage_date_utc',
    'start_time_iso',
    'date',
    'day',
    'usage_date',
    'usage_start_date',
    'start_time',
    'timestamp',
    'time',
  ],
  model: ['model_version', 'model', 'model_name', 'model_id', 'line_item', 'sku_description', 'description', 'sku'],
  requests: ['num_model_requests', 'requests', 'request_count', 'num_requests', 'n_requests'],
  input: ['input_tokens', 'n_context_tokens_total', 'prompt_tokens', 'usage_input_tokens'],
  output: ['output_tokens', 'usage_output_tokens', 'n_generated_tokens_total', 'completion_tokens'],
  usd: [
    ...['cost_usd', 'amount_value', 'amount_usd', 'unrounded_subtotal', 'unrounded_cost'],
    ...['cost', 'subtotal', 'amount', 'usd', 'total_cost'],
  ],
  currency: ['currency', 'amount_currency', 'billing_currency'],
  /** What Google counts of a SKU: its description says what that is. */
  usage: ['usage_amount'],
} as const
/** Anthropic counts cached and written tokens beside the others. */
const inputParts = [
  'usage_input_tokens_no_cache',
  'usage_input_tokens_cache_read',
  'usage_input_tokens_cache_write_5m',
  'usage_input_tokens_cache_write_1h',
  'uncached_input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
]

const epochDigits = /^\d{9,14}$/
const secondsLength = 11
const zoned = /(?:\d[Zz]|UTC|GMT|:\d\d(?:\.\d+)?[+-]\d\d:?\d\d)$/
const isoTime = /^\d{4}-\d\d-\d\dT/

export function readUsageExport(file: string, text: string): ExportedUsage[] {
  // In a well-formed file they come in pairs. From one that is never closed on, nothing would be read.
  if ((text.match(/"/g)?.length ?? 0) % 2 === 1)
    throw invalid(`${file} has a quotation mark that is never closed.`, 'Download it again.')
  const table = parseCsv(text)
  const begin = Math.max(0, table.slice(0, mostPreamble).findIndex(isHead))
  const [head = [], ...rows] = table.slice(begin)
  const at = findColumns(file, head)
  const days = new Map<string, string | null>()
  const read = rows.flatMap((row, index) => {
    const day = days.getOrInsertComputed(row[at.day] ?? '', readDay)
    // One line without a day may be that of the totals.
    if (day === null) return []
    // A cost export of OpenAI names `MODEL, input`.
    const named = (row[at.model] ?? '').split(', ')[0]?.trim() ?? ''
    const sku = at.usage < 0 ? null : readSku(named)
    const place = { file, line: begin + index + 2 }
    const currency = row[at.currency]?.trim() ?? ''
    if (at.usd >= 0 && currency !== '' && currency.toUpperCase() !== 'USD') throw inCurrency(file, currency)
    const count = (column: number) => readNumber(row[column], { ...place, column: head[column] ?? '' })
    const input = at.parts.length === 0 ? null : at.parts.reduce((sum, part) => sum + (count(part) ?? 0), 0)
    const usage = { input, requests: count(at.requests), output: count(at.output), usd: count(at.usd) }
    return [{ day, model: sku?.model ?? named, ...usage, ...(sku?.part && { [sku.part]: count(at.usage) }) }]
  })
  if (read.length === 0 && rows.length > 0)
    throw invalid(`${file} has no day that can be read, as "${rows[0]?.[at.day] ?? ''}".`, 'Write days as 2026-01-31.')
  return read
}

const inCurrency = (file: string, currency: string) =>
  invalid(`${file} has its cost in ${currency}, not in USD.`, 'Leave the cost out to compare tokens.')

/** Google's cost table begins with lines about the invoice. */
const mostPreamble = 20

function isHead(row: readonly string[]): boolean {
  const names = row.map((name) => plain(name))
  return find(names, columns.day) >= 0 && find(names, columns.model) >= 0
}

const skuModel = /gemini[ -](\d+(?:\.\d+)?)[ -](flash[ -]lite|flash|pro)([ -]preview)?\b/i
const skuTokens = /\b(input|output) token count\b/i

/** `Generate content output token count gemini 2.5 flash short output text`. Null: it names no model. */
function readSku(text: string): { model: string; part: 'input' | 'output' | null } | null {
  const [, version = '', size = '', preview = ''] = skuModel.exec(text) ?? []
  if (version === '') return null
  const part = skuTokens.exec(text)?.[1]?.toLowerCase()
  const model = `gemini-${version}-${size}${preview}`.toLowerCase().replaceAll(' ', '-')
  return { model, part: part === 'input' || part === 'output' ? part : null }
}

type ExportColumns = Record<keyof typeof columns, number> & {
  /** Those whose sum is the input. */
  parts: number[]
}

function findColumns(file: string, head: readonly string[]): ExportColumns {
  const names = head.map((name) => plain(name))
  const at = Object.fromEntries(
    Object.entries(columns).map(([name, spellings]) => [name, find(names, spellings)]),
  ) as Record<keyof typeof columns, number>
  const parts = at.input >= 0 ? [at.input] : inputParts.map((part) => names.indexOf(plain(part))).filter((n) => n >= 0)
  const figures = [at.requests, at.output, at.usd, ...parts].some((index) => index >= 0)
  const [currency] = /[€£¥₹]/.exec(head[at.usd] ?? '') ?? []
  if (currency !== undefined) throw inCurrency(file, currency)
  if (at.day >= 0 && at.model >= 0 && figures) return { ...at, parts }
  const [separator] = /[;\t|]/.exec(head.join('')) ?? []
  if (head.length === 1 && separator !== undefined)
    throw invalid(
      `${file} is separated by ${separator === '\t' ? 'tabs' : separator}, not by commas.`,
      'Save it as CSV with commas between columns and a point in numbers.',
    )
  throw invalid(
    `${file} has no column for ${at.day < 0 ? 'the day' : at.model < 0 ? 'the model' : 'tokens or cost'}.`,
    `Download the usage or cost of each day by model as CSV. It has: ${head.join(', ').slice(0, 200)}`,
  )
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

function find(names: readonly string[], spellings: readonly string[]): number {
  return spellings.map((each) => names.indexOf(plain(each))).find((index) => index >= 0) ?? -1
}

/** RFC 3339, what else JavaScript reads, or seconds or milliseconds since the epoch. UTC where no zone is named, wherever this runs. */
function readDay(text: string): string | null {
  const moment = parseDay(text.trim())
  return Number.isNaN(moment) ? null : new Date(moment).toISOString().slice(0, 10)
}

function parseDay(text: string): number {
  const [date] = /^\d{4}-\d\d-\d\d/.exec(text) ?? []
  // JavaScript reads the 30th of February as the 2nd of March.
  if (date !== undefined && new Date(`${date}T00:00Z`).toJSON()?.slice(0, 10) !== date) return Number.NaN
  if (/^\d+$/.test(text)) {
    if (!epochDigits.test(text)) return Number.NaN
    return Number(text) * (text.length > secondsLength ? 1 : 1000)
  }
  if (zoned.test(text)) return Date.parse(text)
  return Date.parse(isoTime.test(text) ? `${text}Z` : `${text} UTC`)
}

/** With thousands separators or a currency sign, or without. A credit is negative. */
const number = /^[-+]?\$?[-+]?(?:\d{1,3}(?:,\d{3})+|\d*)(?:\.\d*)?(?:e[-+]?\d+)?$/i
/** What stands where there is nothing. */
const nothing = /^(?:|-|–|n\/?a|null|none)$/i
/** Nobody spends so much, and sums of more are no longer exact. */
const mostCounted = 1e15

function readNumber(text = '', { file, line, column }: { file: string; line: number; column: string }): number | null {
  const plain = text.trim()
  if (nothing.test(plain)) return null
  const value = number.test(plain) ? Number(plain.replace(/[$,]/g, '')) : Number.NaN
  if (Math.abs(value) <= mostCounted) return value
  throw invalid(
    `${file}, line ${line}: ${column} is "${plain.slice(0, 40)}", which is ${Number.isNaN(value) ? 'no number' : 'too much'}.`,
    'Write numbers as 1234.56 or 1,234.56.',
  )
}
