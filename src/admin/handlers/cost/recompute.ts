import type { ModelPrice } from '../../../core/cost/model-price.ts'
import { roundUsd, usdOfNano } from '../../../core/cost/money.ts'
import { blankUsageDetail, type Cost, type RequestRecord, type UsageDetail } from '../../../core/record.ts'
import { askedSeveralModels, isUncharged } from '../../../core/turns-signal.ts'
import { compilePolicies, effectivePolicy } from '../../../policy/admit.ts'
import { costOf, unpricedText } from '../../../policy/prices/cost.ts'
import { PriceBook } from '../../../policy/prices/find-price.ts'
import { listPrices } from '../../../policy/prices/list-prices.ts'
import type { RecordCost } from '../../../store/api.ts'
import type { Recomputed } from '../../contract/cost.ts'
import { audited } from '../audited.ts'
import type { AdminContext, SharedCosts } from '../context.ts'
import { findProvider } from '../find.ts'
import { readMoment } from '../moments.ts'
import { vendorOf } from '../prices/vendor-of.ts'

/** Read, priced and written in one step; between two of them others have their turn. */
const pageRecords = 200
/** Progress is shown after so many records. */
const shownEvery = 5000

interface RecomputeInput {
  since: string
  provider?: string | undefined
}

/**
 * Newest first. Running it again changes nothing, as long as no price has changed. Where nodes share their records, those of all;
 * else a node does its own.
 */
export async function* recomputeCost(
  context: AdminContext,
  { since, provider }: RecomputeInput,
  signal: AbortSignal,
): AsyncGenerator<Recomputed> {
  const { store, runtime } = context
  await runtime.ingest()
  const start = readMoment(since, 'back')
  const named = provider === undefined ? {} : { provider: (await findProvider(context, provider)).name }
  const cluster = runtime.cluster?.cluster() == null ? null : runtime.cluster
  const shared = cluster?.costs() ?? null
  const records: Pick<SharedCosts, 'list' | 'reprice'> = shared ?? store.records
  const filter = { since: start, until: new Date().toISOString(), ...named }
  const pricer = await openPricer(context)
  const sum: Recomputed = {
    ...{ done: false, time: null, checked: 0, changed: 0, unpriced: 0, several_models: 0, before_usd: 0, after_usd: 0 },
    elsewhere: shared === null ? (cluster?.others() ?? []).map(({ name }) => name) : [],
    kept: [],
    missing: [],
    outdated: [],
  }
  let before: string | undefined
  for (let more = true; more && !signal.aborted; ) {
    const page = await records.list({
      ...filter,
      ...(before === undefined ? {} : { before }),
      limit: pageRecords,
    })
    const changes = page.map((record) => repriceRecord(record, pricer, sum)).filter((change) => change !== null)
    if (changes.length > 0) await records.reprice(changes)
    sum.changed += changes.length
    const shownBefore = Math.floor(sum.checked / shownEvery)
    sum.checked += page.length
    sum.time = page.at(-1)?.time ?? sum.time
    before = page.at(-1)?.id
    more = page.length === pageRecords
    if (sum.several_models > 0) sum.kept = [whyKept(sum.several_models)]
    if (more && Math.floor(sum.checked / shownEvery) > shownBefore) yield { ...sum }
  }
  const after = { since: start, ...named, checked: sum.checked, changed: sum.changed, usd: sum.after_usd }
  const resource = { kind: 'cost', id: start, name: start }
  await audited(context, { operation: 'cost.recompute', resource, before: { usd: sum.before_usd }, after }).audit.note()
  if (shared !== null && !signal.aborted)
    for await (const left of shared.settle()) {
      Object.assign(sum, left)
      if (signal.aborted) break
    }
  yield { ...sum, done: true }
}

/** `free`: nothing is charged there. */
type Pricer = (record: RequestRecord) => (Cost & Pick<RecordCost, 'unpriced'>) | 'free' | null

/** Prices the usage that stands on a record. A provider that is gone, or under another name, is known by its model alone. */
async function openPricer({ store, runtime, kinds }: AdminContext): Promise<Pricer> {
  const providers = await store.providers.list()
  const vendors = new Map(providers.map((provider) => [provider.name, vendorOf(provider)]))
  const builtIn = new Set(kinds.filter(({ transport }) => transport !== null).map(({ kind }) => kind))
  const free = new Set(providers.filter(({ kind }) => builtIn.has(kind)).map(({ name }) => name))
  const book = new PriceBook(await listPrices(store.prices, providers))
  const unpriced = openUnpriced(runtime.snapshot())
  return (record) => {
    const { provider, upstream_model: model, tokens } = record
    if (provider === null || model === null || !vendors.has(provider)) return null
    const find = (name: string) => book.find({ provider, vendor: vendors.get(provider) ?? null, model: name })
    const known = chooseByAnswer(find(model), record.attempts.at(-1)?.priced_as, find)
    if (known === null && free.has(provider)) return 'free'
    const found = known ?? unpriced(record)
    if (found === null) return null
    const sum = isSum(record)
    const booked = sum ? (record.attempts.at(-1)?.cost ?? record.cost) : null
    if (booked?.price_version === found.version) return booked
    // A sum of several answers says nothing of how long each of them was.
    const price = sum ? { ...found, long_context: null } : found
    const nano = costOf({ tokens, detail: detailOf(record) }, price)
    if (nano === null) return null
    const cost = { usd: usdOfNano(nano), price_version: price.version }
    const text = unpricedText(price.model, price, { detail: record.usage_detail, cost })
    return text === null ? cost : { ...cost, unpriced: text }
  }
}

/** As when it was settled: a deployment is charged as the model that has answered, unless somebody has set a price for it. */
function chooseByAnswer(
  own: ModelPrice | null,
  answered: string | undefined,
  find: (name: string) => ModelPrice | null,
): ModelPrice | null {
  if (answered === undefined || (own !== null && own.source !== 'shipped')) return own
  return find(answered) ?? own
}

/** What the policies of a record's key say by now of models without a price. */
function openUnpriced({ configuration, keys }: ReturnType<AdminContext['runtime']['snapshot']>) {
  const policies = compilePolicies(configuration)
  const byId = new Map(keys.map((key) => [key.id, key]))
  return ({ key }: RequestRecord): ModelPrice | null => {
    const found = key === null ? undefined : byId.get(key.id)
    return found === undefined ? null : (effectivePolicy(policies, found).unpriced?.price ?? null)
  }
}

function whyKept(count: number): string {
  const [cost, whose] =
    count === 1 ? ['the cost of a request stays', 'it'] : [`the costs of ${count} requests stay`, 'each of them']
  return `${cost} as booked, since several models worked for ${whose} and only their sum is recorded`
}

function repriceRecord(record: RequestRecord, pricer: Pricer, sum: Recomputed): RecordCost | null {
  const { id, cost, attempts, tokens, usage_detail } = record
  const before = cost?.usd ?? 0
  sum.before_usd = roundUsd(sum.before_usd + before)
  const used = record.state !== 'admitted' && (tokens !== null || usage_detail !== null)
  if (used && askedSeveralModels(record)) {
    sum.several_models++
    sum.after_usd = roundUsd(sum.after_usd + before)
    return null
  }
  if (isUncharged(record)) {
    sum.after_usd = roundUsd(sum.after_usd + before)
    return null
  }
  const priced = used ? pricer(record) : null
  if (priced === null || priced === 'free') {
    if (used && priced === null && record.provider !== null) sum.unpriced++
    sum.after_usd = roundUsd(sum.after_usd + before)
    return null
  }
  const earlier = attempts.slice(0, -1).reduce((usd, attempt) => usd + (attempt.cost?.usd ?? 0), 0)
  const { unpriced, ...own } = priced
  const usd = roundUsd(own.usd + earlier)
  sum.after_usd = roundUsd(sum.after_usd + usd)
  if (usd === cost?.usd && own.price_version === cost.price_version) return null
  return { id, cost: { ...own, usd }, attempt: attempts.length === 0 ? null : own, ...(unpriced && { unpriced }) }
}

function detailOf({ operation, usage_detail }: RequestRecord): UsageDetail | null {
  return operation === 'batches.results' ? { ...(usage_detail ?? blankUsageDetail), batch: true } : usage_detail
}

/** Results of a batch by one model, the answers of one connection, and the parts of an answer that paused. */
function isSum({ attempts, status, routing_signals }: RequestRecord): boolean {
  return attempts.length === 0 || status === 101 || routing_signals.some(isPause)
}

function isPause({ rule, verdict }: RequestRecord['routing_signals'][number]): boolean {
  return rule === 'pause' && verdict === 'note'
}
