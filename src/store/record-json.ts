import { idTime } from '../core/ids.ts'
import type { RequestRecord } from '../core/record.ts'

/** In the order in which a record is shown. What an entry of the journal leaves out reads as this. */
function makeBlank(): RequestRecord {
  return {
    id: '',
    state: 'admitted',
    time: '',
    lane: null,
    operation: null,
    project: null,
    environment: null,
    key: null,
    model: null,
    route: null,
    provider: null,
    upstream_model: null,
    status: null,
    error: null,
    streamed: false,
    tokens: null,
    cost: null,
    duration_ms: null,
    first_byte_ms: null,
    attempts: [],
    timeline: [],
    policy_signals: [],
    routing_signals: [],
    losses: [],
    provider_request_id: null,
    request_bytes: 0,
    response_bytes: 0,
    client: { address: null, user_agent: null },
    tags: {},
  }
}

/** The record that a `record_json` holds. One that cannot be read says so and spoils no list. */
export function readRecord(text: string, id: string): RequestRecord {
  const whole = makeBlank()
  try {
    const stored: unknown = JSON.parse(text)
    if (typeof stored === 'object' && stored !== null) return Object.assign(whole, stored)
  } catch {
    // Told below: the entry's checksum was right, so these are the bytes that were written.
  }
  const note = 'What was stored of this request cannot be read.'
  const time = new Date(idTime(id) ?? 0).toISOString()
  return { ...whole, id, time, policy_signals: [{ rule: 'record', verdict: 'note', text: note }] }
}

const tagsBegin = ',"tags":'

/** The tags of a record, which stand at its end: the rest of it is parsed only where they do not. */
export function readTags(text: string): RequestRecord['tags'] {
  try {
    const end: unknown = JSON.parse(`{${text.slice(text.lastIndexOf(tagsBegin) + 1)}`)
    if (isTagged(end)) return end.tags
  } catch {
    // A tag has that name, or the record has another order.
  }
  return readRecord(text, '').tags
}

function isTagged(value: unknown): value is Pick<RequestRecord, 'tags'> {
  return typeof value === 'object' && value !== null && 'tags' in value && Object.keys(value).length === 1
}
