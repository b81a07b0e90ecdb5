import { newId } from '../../src/core/ids.ts'
import type { JournalEntry } from '../../src/core/journal-format.ts'
import type { AttemptRecord, RequestRecord } from '../../src/core/record.ts'
import { blankRecord } from '../../src/store/records/blank-record.ts'

/** A settled request of the OpenAI lane, in whatever differs. */
export function sampleRecord(change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    ...blankRecord(),
    id: newId('req'),
    state: 'settled',
    time: new Date().toISOString(),
    lane: 'openai',
    operation: 'chat.completions',
    project: 'default',
    environment: 'production',
    key: { id: 'key_1', name: 'ci' },
    model: 'gpt-4o-mini',
    route: 'gpt-4o-mini',
    provider: 'openai',
    upstream_model: 'gpt-4o-mini',
    status: 200,
    tokens: { input: 10, output: 5, cache_read: 0, cache_write: 0, reasoning: 0, source: 'reported' },
    cost: { usd: 0.001, price_version: 'test' },
    duration_ms: 100,
    first_byte_ms: 50,
    streamed: true,
    request_bytes: 100,
    response_bytes: 200,
    client: { address: '127.0.0.1', user_agent: null },
    ...change,
  }
}

export function admitted(record: RequestRecord): JournalEntry {
  return {
    kind: 'admitted',
    record: { ...record, state: 'admitted', status: null, duration_ms: null, first_byte_ms: null },
  }
}

export function settled(record: RequestRecord): JournalEntry {
  return { kind: 'settled', record: { ...record, state: 'settled' } }
}

/** The attempts of a request that its first provider failed and its second answered. */
export function fellBack(first: string, second: string): AttemptRecord[] {
  return [sampleAttempt(first, 'provider_unreachable'), sampleAttempt(second, 'answered')]
}

export function sampleAttempt(provider: string, outcome: string, status: number | null = null): AttemptRecord {
  return {
    provider,
    upstream_model: 'm',
    status,
    outcome,
    started_ms: 1,
    connected_ms: null,
    first_byte_ms: null,
    ended_ms: 11,
    message: null,
    cost: null,
  }
}
