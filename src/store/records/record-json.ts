import { idTime } from '../../core/ids.ts'
import type { RequestRecord, Signal } from '../../core/record.ts'
import { maskGatewayKeys } from '../../core/secrets/gateway-key.ts'
import { maskKeys } from '../../core/secrets/mask-keys.ts'
import { blankRecord } from './blank-record.ts'
import type { RecordCost } from './record-tables.ts'

/**
 * The record that a `record_json` holds. One that cannot be read says so and spoils no list. Earlier versions wrote keys that
 * a client had put into its texts: they are masked here as they are masked in the journal now.
 */
export function readRecord(text: string, id: string, mask = maskKeys): RequestRecord {
  const whole = blankRecord()
  try {
    const stored: unknown = JSON.parse(mask(text))
    if (typeof stored === 'object' && stored !== null) return withCosts(Object.assign(whole, stored))
  } catch {
    // Told below: the entry's checksum was right, so these are the bytes that were written.
  }
  const note = 'The stored record of this request cannot be read.'
  const time = new Date(idTime(id) ?? 0).toISOString()
  return { ...whole, id, time, policy_signals: [{ rule: 'record', verdict: 'note', text: note }] }
}

/** The same, with a signal where it stands for several refusals. */
export function withRepeats(
  text: string,
  id: string,
  repeat: { count: number; last_time: string } | null | undefined,
): RequestRecord {
  const record = readRecord(text, id)
  if (!repeat) return record
  const { count, last_time } = repeat
  const sentence = `${count} more refusals from the same address share this record, the last at ${last_time}`
  const data = { count, last_time }
  return {
    ...record,
    policy_signals: [...record.policy_signals, { rule: 'repeated', verdict: 'note', text: sentence, data }],
  }
}

/** The text of a record with another cost. What had no price before has one now, so that it says at most that a part has none. */
export function repricedText(text: string, { id, cost, attempt, unpriced }: RecordCost): string {
  const record = readRecord(text, id)
  record.cost = cost
  const last = record.attempts.at(-1)
  if (last !== undefined) last.cost = attempt
  const others = record.policy_signals.filter(({ rule }) => rule !== 'unpriced')
  record.policy_signals = [
    ...others,
    ...flagUnpriced(unpriced, { model: record.upstream_model, provider: record.provider }),
  ]
  return JSON.stringify(record)
}

/** What a record says of a cost that is not whole. */
export function flagUnpriced(text: string | undefined, data: Record<'model' | 'provider', string | null>): Signal[] {
  return text === undefined ? [] : [{ rule: 'unpriced', verdict: 'flag', text, data }]
}

/** Earlier versions wrote attempts and usage without them. */
function withCosts(record: RequestRecord): RequestRecord {
  for (const attempt of record.attempts) attempt.cost ??= null
  if (record.usage_detail !== null) for (const name of laterDetails) record.usage_detail[name] ??= null
  return record
}

const laterDetails = ['image_size', 'geo', 'image_cached', 'video_input', 'file_searches', 'containers'] as const

const tagsBegin = ',"tags":{'
/** Tags are the clients' own words: there may be as many as records. */
const keptTags = 1000
const noTags = `${tagsBegin}}}`

/**
 * What sums by tag count a record under: each of its tags, as `name=value`, and '' for having any. With what earlier versions wrote and
 * counted them under: else they could not be taken out of the sums again. `groupsOf` masks it.
 */
export function countedTags(text: string): string[] {
  if (text.endsWith(noTags)) return []
  const tags = namesOf(readTags(text, maskGatewayKeys))
  return tags.length === 0 ? [] : ['', ...tags]
}

/** `name=value` each. */
export function nameTags(text: string): string[] {
  return namesOf(readTags(text))
}

function namesOf(tags: RequestRecord['tags']): string[] {
  return Object.entries(tags).map(([name, value]) => `${name}=${value}`)
}

/** The tags of a record, which stand at its end: the rest of it is parsed only where they do not. */
export function readTags(text: string, mask = maskKeys): RequestRecord['tags'] {
  return parseTags(tagEnd(text), mask) ?? readRecord(text, '', mask).tags
}

/** Most records have the tags of one before them: these are parsed once. */
export class TagReader {
  readonly #known = new Map<string, readonly string[]>()

  /** What `nameTags()` reads of a record, from the end of its text; null: that does not tell. */
  read(ending: string): readonly string[] | null {
    const text = tagEnd(ending)
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const tags = parseTags(text, maskKeys)
    if (tags === null) return null
    const names = namesOf(tags)
    if (this.#known.size >= keptTags) this.#known.clear()
    this.#known.set(text, names)
    return names
  }
}

function tagEnd(text: string): string {
  return text.slice(text.lastIndexOf(tagsBegin))
}

/** Null: the record has another order. */
function parseTags(end: string, mask: typeof maskKeys): RequestRecord['tags'] | null {
  try {
    const found: unknown = JSON.parse(`{${mask(end.slice(1))}`)
    return isTagged(found) ? found.tags : null
  } catch {
    return null
  }
}

function isTagged(value: unknown): value is Pick<RequestRecord, 'tags'> {
  return typeof value === 'object' && value !== null && 'tags' in value && Object.keys(value).length === 1
}
