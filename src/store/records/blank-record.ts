import type { RequestRecord } from '../../core/record.ts'

/** In the order in which a record is shown. What an entry of the journal leaves out reads as this. */
export function blankRecord(): RequestRecord {
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
