import type { Database, Statement } from 'better-sqlite3'
import type { BatchSum, BatchUsageEntry } from '../core/journal-format.ts'
import type { RequestRecord } from '../core/record.ts'

type Values = (string | null)[]
type Names = { project: string | null; environment: string | null; key: string | null }

/** What makes records of a batch's results, once. */
export class BatchUsageStatements {
  readonly #mark: Statement<Values>
  readonly #owner: Statement<Values, { project_id: string; environment_id: string; key_id: string | null }>
  readonly #names: Statement<Values, Names>

  constructor(sqlite: Database) {
    this.#mark = sqlite.prepare(
      `insert into counted_batches (id, provider_id, credential_id, request_id, counted_at)
       values (?, ?, ?, ?, ?) on conflict do nothing`,
    )
    this.#owner = sqlite.prepare(
      `select project_id, environment_id, key_id from objects
       where type = 'batch' and id = ? and provider_id = ? and credential_id = ?`,
    )
    this.#names = sqlite.prepare(
      `select (select name from projects where id = ?) as project,
       (select name from environments where id = ?) as environment, (select name from keys where id = ?) as key`,
    )
  }

  /** The records that are to be stored in the same transaction; none where the batch has been counted. */
  count(entry: BatchUsageEntry): RequestRecord[] {
    const { batchId, owner, requestId, time } = entry
    const place = [batchId, owner.providerId, owner.credentialId ?? '']
    if (this.#mark.run(...place, requestId, time).changes === 0) return []
    // Whoever asked first how the batch stands has its file; the batch itself is whose key made it.
    const made = this.#owner.get(...place)
    const projectId = made?.project_id ?? owner.projectId
    const environmentId = made?.environment_id ?? owner.environmentId
    const keyId = made === undefined ? owner.keyId : made.key_id
    const names = this.#names.get(projectId, environmentId, keyId)!
    const key = keyId === null ? null : { id: keyId, name: names.key ?? keyId }
    return entry.sums.map((sum) =>
      toRecord(entry, sum, { key, project: names.project, environment: names.environment }),
    )
  }
}

type RecordOwner = Pick<RequestRecord, 'key' | 'project' | 'environment'>

function toRecord(entry: BatchUsageEntry, { id, model, lines, tokens }: BatchSum, owner: RecordOwner): RequestRecord {
  const { batchId, requestId, time, lane, provider } = entry
  return {
    id,
    state: 'settled',
    time,
    lane,
    operation: 'batches.results',
    ...{ project: owner.project, environment: owner.environment, key: owner.key, model },
    route: null,
    provider,
    upstream_model: model,
    status: 200,
    error: null,
    streamed: false,
    tokens,
    cost: null,
    duration_ms: null,
    first_byte_ms: null,
    attempts: [],
    timeline: [],
    policy_signals: [],
    routing_signals: [
      {
        rule: 'batch',
        verdict: 'note',
        text: `Usage of ${lines} results of batch ${batchId}, which request ${requestId} brought.`,
        data: { batch: batchId, request: requestId, lines },
      },
    ],
    losses: [],
    provider_request_id: null,
    request_bytes: 0,
    response_bytes: 0,
    client: { address: null, user_agent: null },
    tags: {},
  }
}
