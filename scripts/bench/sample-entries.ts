import { crc32 } from 'node:zlib'
import { newId } from '../../src/core/ids.ts'
import { entryHeaderBytes, type JournalEntry } from '../../src/core/journal-format.ts'
import type { RequestRecord, Signal } from '../../src/core/record.ts'

/** A record of the size that a small chat request with a policy and one attempt leaves. */
export function sampleRecord(index: number, keys = 20, models = 6): RequestRecord {
  const number = index % keys
  const model = `gpt-5.2-mini-${index % models}`
  const failed = index % 50 === 0
  return {
    id: newId('req'),
    state: 'settled',
    time: new Date().toISOString(),
    lane: 'openai',
    operation: 'chat.completions',
    project: 'default',
    environment: 'production',
    key: { id: `key_01kaz5sw7c3h8m2v9q4w6x8y${String(number).padStart(2, '0')}`, name: `service-${number}` },
    model,
    route: model,
    provider: failed ? 'openai-backup' : 'openai',
    upstream_model: `${model}-2026-09-01`,
    status: failed ? 502 : 200,
    error: failed ? { code: 'provider_error', origin: 'provider', message: 'the provider answered 500' } : null,
    streamed: index % 3 === 0,
    tokens: { input: 40 + number, output: 180, cache_read: 10, cache_write: 0, reasoning: 12, source: 'reported' },
    cost: null,
    duration_ms: 100 + (index % 1000) / 10,
    first_byte_ms: 12.125,
    attempts: [
      {
        provider: 'openai',
        upstream_model: `${model}-2026-09-01`,
        status: failed ? 500 : 200,
        outcome: 'answered',
        started_ms: 0.613,
        connected_ms: 0.7,
        first_byte_ms: 11.904,
        ended_ms: 99.871,
        message: null,
      },
    ],
    timeline: (
      ['received', 'admitted', 'attempt', 'connected', 'first_byte', 'content', 'last_byte', 'done'] as const
    ).map((event, step) => ({ event, at_ms: step * 12.131 })),
    policy_signals: signals,
    routing_signals: [
      { rule: 'plan', verdict: 'taken', text: `route ${model}: openai as ${model}-2026-09-01 (priority 1)` },
    ],
    losses: [],
    provider_request_id: 'req_011CSample4c1fb2d07a9e3',
    request_bytes: 275,
    response_bytes: 637,
    client: { address: '10.20.30.40', user_agent: index % 20 === 0 ? 'Prüfstand/2 — Größe 7' : 'OpenAI/Python 2.8.1' },
    tags: { team: 'search' },
  }
}

const signals: Signal[] = [
  { rule: 'key', verdict: 'pass', text: 'the key is valid for project default, environment production' },
  { rule: 'models', verdict: 'pass', text: 'the policy allows this model' },
  { rule: 'requests_per_minute', verdict: 'pass', text: '12 of 600 requests this minute' },
]

/** As the gateway writes it. The admitted one stands before anything has come of the request. */
export function encodeEntry(kind: 'admitted' | 'settled', record: RequestRecord): Buffer {
  const entry: JournalEntry = { kind, record: kind === 'settled' ? record : toAdmitted(record) }
  const payload = Buffer.from(JSON.stringify(entry))
  const bytes = Buffer.allocUnsafe(entryHeaderBytes + payload.length)
  bytes.writeUInt32LE(payload.length, 0)
  bytes.writeUInt32LE(crc32(payload), 4)
  payload.copy(bytes, entryHeaderBytes)
  return bytes
}

function toAdmitted(record: RequestRecord): RequestRecord {
  return {
    ...record,
    state: 'admitted',
    provider: null,
    upstream_model: null,
    status: null,
    error: null,
    tokens: null,
    duration_ms: null,
    first_byte_ms: null,
    attempts: [],
    timeline: record.timeline.slice(0, 2),
    provider_request_id: null,
    response_bytes: 0,
  }
}
