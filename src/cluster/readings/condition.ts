import { idTime } from '../../core/ids.ts'
import { idAt, idSlackMs } from '../../store/records/id-time.ts'
import { statusRange } from '../../store/records/status-range.ts'
import type { ReadingFilter } from './reading.ts'

/** The conditions of a statement, with their values. */
export class SqlCondition {
  readonly values: unknown[] = []
  readonly #parts: string[] = []

  /** Adds a value, and returns its placeholder. */
  value(value: unknown): string {
    return `$${this.values.push(value)}`
  }

  add(part: string): void {
    this.#parts.push(`(${part})`)
  }

  get text(): string {
    return this.#parts.length === 0 ? 'true' : this.#parts.join(' and ')
  }
}

/** Conditions on labels and outcomes, which records and their sums both have. */
export function addPlain(condition: SqlCondition, filter: ReadingFilter): void {
  for (const column of ['project', 'environment', 'model', 'provider', 'lane', 'state', 'node'] as const)
    if (filter[column] !== undefined) condition.add(`${column} = ${condition.value(filter[column])}`)
  const { key, error, errors, status } = filter
  if (key !== undefined) {
    const wanted = condition.value(key)
    condition.add(`key_id = ${wanted} or key_name = ${wanted}`)
  }
  if (error !== undefined) condition.add(`error_code = ${condition.value(error)}`)
  if (errors) condition.add("coalesce(error_code, '') <> '' or status >= 400")
  if (status !== undefined) {
    const [low, high] = statusRange(status)
    condition.add(`status between ${condition.value(low)} and ${condition.value(high)}`)
  }
}

/** Conditions that only records themselves can answer. */
export function addFull(condition: SqlCondition, filter: ReadingFilter): void {
  addPlain(condition, filter)
  addTimes(condition, filter)
  const { names, id, slowerThanMs, fellBack, failedAt, route, tags } = filter
  if (names !== undefined) condition.add(namesOf(condition, names))
  if (slowerThanMs !== undefined) condition.add(`duration_ms >= ${condition.value(slowerThanMs)}`)
  if (fellBack) condition.add(`strpos(attempts_json, '"outcome":"fell_back"') > 0`)
  if (failedAt !== undefined) {
    const failures = ['failed', 'fell_back'].map((outcome) => JSON.stringify([{ provider: failedAt, outcome }]))
    const holds = failures.map((each) => `${asJson('attempts_json')} @> ${condition.value(each)}::jsonb`).join(' or ')
    addWritten(condition, 'attempts_json', `"provider":${JSON.stringify(failedAt)}`, holds)
  }
  if (route !== undefined)
    addWritten(
      condition,
      'record_json',
      `"route":${JSON.stringify(route)}`,
      `${asJson('record_json')} @> ${condition.value(JSON.stringify({ route }))}::jsonb`,
    )
  for (const [name, value] of Object.entries(tags ?? {})) {
    const written = `${JSON.stringify(name)}:${value === null ? '' : JSON.stringify(value)}`
    const wanted = readable(JSON.stringify(value === null ? name : { [name]: value }))
    const found = condition.value(value === null ? JSON.parse(wanted) : wanted)
    const holds = `${asJson('record_json')} -> 'tags' ${value === null ? '?' : '@>'} ${found}`
    addWritten(condition, 'record_json', written, value === null ? holds : `${holds}::jsonb`)
  }
  if (id === undefined) return
  if (idTime(id) !== null) condition.add(`id = ${condition.value(id)}`)
  else condition.add(`strpos(id, ${condition.value(id.toLowerCase())}) > 0`)
}

/** Clients may send NUL in their own texts, and PostgreSQL cannot read JSON that contains it. */
const readable = (json: string) => json.replaceAll('\\u0000', '\\ufffd')
export const asJson = (column: string) => `replace(${column}, '\\u0000', '\\ufffd')::jsonb`

/** A search in the text excludes most records; only those that may match are read as JSON. */
function addWritten(condition: SqlCondition, column: string, written: string, holds: string): void {
  condition.add(`case when strpos(${column}, ${condition.value(written)}) > 0 then ${holds} else false end`)
}

/** By time, and by the id that begins with it, so that whole days can be skipped. */
function addTimes(condition: SqlCondition, { since, until, before }: ReadingFilter): void {
  if (since !== undefined) {
    condition.add(`time >= ${condition.value(new Date(since).toISOString())}`)
    condition.add(`id >= ${condition.value(idAt(Date.parse(since) - idSlackMs))}`)
  }
  if (until !== undefined) {
    condition.add(`time < ${condition.value(new Date(until).toISOString())}`)
    condition.add(`id < ${condition.value(idAt(Date.parse(until) + idSlackMs))}`)
  }
  if (before !== undefined) condition.add(`id < ${condition.value(before)}`)
}

/** A project's name may have belonged to another project at another time. */
function namesOf(condition: SqlCondition, names: NonNullable<ReadingFilter['names']>): string {
  const each = names.map(({ name, since, until }) => {
    const parts = [`project = ${condition.value(name)}`]
    if (since !== '') parts.push(`time >= ${condition.value(since)}`)
    if (until !== null) parts.push(`time < ${condition.value(until)}`)
    return `(${parts.join(' and ')})`
  })
  return each.length === 0 ? 'false' : each.join(' or ')
}
