import type { Database, Statement } from 'better-sqlite3'
import { roundUsd } from '../../core/cost/money.ts'
import { newId } from '../../core/ids.ts'
import type { BackgroundWork, BatchHeldEntry, BatchSum, BatchUsageEntry } from '../../core/journal-format.ts'
import type { Cost, RequestRecord, TokenUsage } from '../../core/record.ts'
import { blankRecord } from '../records/blank-record.ts'
import { tokenColumns } from '../records/record-columns.ts'
import { flagUnpriced } from '../records/record-json.ts'
import type { MakerAmounts } from '../replica/usage-claim.ts'

type UsageValues = (string | null)[]
type UsageNames = { project: string | null; environment: string | null; key: string | null }
const noNames: UsageNames = { project: null, environment: null, key: null }

/** Turns the usage that a batch's results (or the end of other background work) report into records, exactly once. */
export class BatchUsageStatements {
  readonly #mark: Statement<UsageValues>
  readonly #owner: Statement<UsageValues, { project_id: string; environment_id: string; key_id: string | null }>
  readonly #names: Statement<UsageValues, UsageNames>
  readonly #maker: Statement<UsageValues, MakerAmounts & { state: string }>

  constructor(sqlite: Database) {
    this.#mark = sqlite.prepare(
      `insert into counted_batches (id, provider_id, credential_id, request_id, counted_at, type)
       values (?, ?, ?, ?, ?, ?) on conflict do nothing`,
    )
    this.#owner = sqlite.prepare(
      `select project_id, environment_id, key_id from objects
       where id = ? and provider_id = ? and credential_id = ? and type = ?`,
    )
    this.#maker = sqlite.prepare(`select state, usd, ${tokenColumns.join(', ')} from records where id = ?`)
    this.#names = sqlite.prepare(
      `select (select name from projects where id = ?) as project,
       (select name from environments where id = ?) as environment, (select name from keys where id = ?) as key`,
    )
  }

  /**
   * The records that are to be stored in the same transaction; null where the batch has been counted, or cannot be yet. `known`: what
   * stands on the record of the request that made it, where that is another node's.
   */
  count(entry: BatchUsageEntry, known: MakerAmounts | null = null): RequestRecord[] | null {
    const { batchId, owner, requestId, time, type = 'batch' } = entry
    const sums = this.#remaining(entry, known)
    const place = [batchId, owner.providerId, owner.credentialId ?? '']
    if (sums === null || this.#mark.run(...place, requestId, time, type).changes === 0) return null
    // `owner` is the key that first asked for the batch's status; the batch itself belongs to the key that created it.
    const made = this.#owner.get(...place, type)
    const projectId = made?.project_id ?? owner.projectId
    const environmentId = made?.environment_id ?? owner.environmentId
    const keyId = made === undefined ? owner.keyId : made.key_id
    const maker = this.#ownerOf({ projectId, environmentId, keyId })
    return sums.map((sum) => toRecord(entry, sum, maker))
  }

  /** A batch whose results nobody has read is charged what it held; null where it has been counted. */
  charge(held: BatchHeldEntry, { time, usd }: { time: string; usd: number | null }): RequestRecord | null {
    const { type = 'batch', batchId, owner, requestId, lane, provider, model, tokens } = held
    const place = [batchId, owner.providerId, owner.credentialId ?? '']
    if (this.#mark.run(...place, requestId, time, type).changes === 0) return null
    const what = type === 'batch' ? 'read the results of batch' : `asked how it ended: ${nameOf(type)}`
    const text = `Nobody has ${what} ${batchId}, which request ${requestId} made: it is charged what it held.`
    const data = { [type]: batchId, request: requestId }
    return {
      ...blankRecord(),
      ...{ id: newId('req', Date.parse(time)), state: 'settled', time, lane, operation: operations[type] },
      ...this.#ownerOf(owner),
      ...{ model, provider, upstream_model: model, status: 200, tokens },
      cost: usd === null ? null : { usd, price_version: 'hold' },
      routing_signals: [{ rule: 'batch', verdict: 'note', text, data }],
    }
  }

  #ownerOf({
    projectId,
    environmentId,
    keyId,
  }: Omit<BatchUsageEntry['owner'], 'providerId' | 'credentialId'>): RecordOwner {
    const { project, environment, key } = this.#names.get(projectId, environmentId, keyId) ?? noNames
    return { key: keyId === null ? null : { id: keyId, name: key ?? keyId }, project, environment }
  }

  /**
   * What is not on the record of the request that made it: the answer's own end, or an estimate where its stream was cut. Null while that
   * one goes on or is gone, since nobody knows then.
   */
  #remaining({ type = 'batch', madeBy = null, sums }: BatchUsageEntry, known: MakerAmounts | null): BatchSum[] | null {
    if (type !== 'response' && type !== 'interaction') return sums
    const made = madeBy === null ? undefined : this.#maker.get(madeBy)
    const maker = made?.state === 'admitted' ? null : (made ?? known)
    if (maker === null) return null
    // The first is the answer's own; what the others have used for it is not counted yet.
    const left = sums.map((sum, place) =>
      place > 0
        ? sum
        : { ...sum, tokens: subtract(sum.tokens, maker), cost: subtractCost(sum.cost ?? null, maker.usd) },
    )
    return left.filter(({ tokens }) => isSome(tokens))
  }
}

function subtract(tokens: TokenUsage, counted: MakerAmounts): TokenUsage {
  const left = tokenColumns.map((name) => [name, Math.max(0, tokens[name] - (counted[name] ?? 0))])
  return { ...tokens, ...Object.fromEntries(left) }
}

function subtractCost(cost: Cost | null, counted: number | null): Cost | null {
  return cost === null ? null : { ...cost, usd: roundUsd(Math.max(0, cost.usd - (counted ?? 0))) }
}

function isSome(tokens: TokenUsage): boolean {
  return tokenColumns.some((name) => tokens[name] > 0)
}

const operations: Readonly<Record<BackgroundWork, string>> = {
  batch: 'batches.results',
  response: 'responses.result',
  interaction: 'interactions.result',
  eval_run: 'evals.runs.result',
  thread_run: 'threads.runs.result',
}

const nameOf = (type: BackgroundWork) => type.replace('_', ' ')

type RecordOwner = Pick<RequestRecord, 'key' | 'project' | 'environment'>

function toRecord(
  entry: BatchUsageEntry,
  { id, model, lines, tokens, detail, cost = null, unpriced }: BatchSum,
  owner: RecordOwner,
): RequestRecord {
  const { batchId, requestId, time, lane, provider, type = 'batch' } = entry
  return {
    ...blankRecord(),
    id,
    state: 'settled',
    time,
    lane,
    operation: operations[type],
    ...{ project: owner.project, environment: owner.environment, key: owner.key, model },
    provider,
    upstream_model: model,
    status: 200,
    tokens,
    usage_detail: detail ?? null,
    cost,
    policy_signals: flagUnpriced(unpriced, { model, provider }),
    routing_signals: [
      {
        rule: 'batch',
        verdict: 'note',
        text:
          type === 'batch'
            ? `Usage of ${lines} results of batch ${batchId}, which request ${requestId} brought.`
            : `Usage of the ${nameOf(type)} ${batchId}, whose end request ${requestId} showed.`,
        data: { [type]: batchId, request: requestId, lines },
      },
    ],
  }
}
