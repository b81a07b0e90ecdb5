import { bytesPerToken, estimatedTokens } from '../../core/cost/estimated-tokens.ts'
import type { ModelPrice } from '../../core/cost/model-price.ts'
import { roundUsd, usdOfNano } from '../../core/cost/money.ts'
import { newId } from '../../core/ids.ts'
import type { BackgroundWork, BatchSum, BatchUsageEntry } from '../../core/journal-format.ts'
import type { ObjectOwner, StoredObject } from '../../core/objects/stored-object.ts'
import type { Cost, TokenUsage, UsageDetail } from '../../core/record.ts'
import { LineScanner } from '../../core/text/line-scan.ts'
import type { AnswerFacts, Lane, Match } from '../../lanes/contract.ts'
import type { EndedWork } from '../../lanes/earlier-work.ts'
import { holdsTooMuch } from '../../lanes/json-tree.ts'
import { doubtedFrom, mostPossible, usageDetail } from '../../lanes/usage.ts'
import { addUsage, addUsageDetail } from '../../lanes/usage-sum.ts'
import { effectivePolicy } from '../../policy/admit.ts'
import { findPeriod } from '../../policy/limits/periods.ts'
import { costOf, unpricedText } from '../../policy/prices/cost.ts'
import { noPriceText } from '../../policy/prices/find-price.ts'
import type { SnapshotKey } from '../../store/configuration/snapshot.ts'
import type { Gateway } from '../gateway.ts'
import type { Trace } from '../request/trace.ts'
import { findHeader } from '../upstream/headers.ts'

/** A longer line is skipped: each line is held, and parsed in one go. */
const lineBytes = 4 * 1024 * 1024
/** A line with more values is skipped too, since parsing takes time for each. */
const lineValues = 100_000
/** Beyond this many models, the results of further ones are added up as if they named none. */
const modelsLimit = 50
const modelCharacters = 512

/** No vendor takes a batch of more requests: Anthropic takes 100,000, OpenAI 50,000. */
const mostLines = 100_000

/** The call whose answer contains the results. */
interface ResultsCall {
  readonly id: string
  readonly lane: Lane
  readonly match: Match
  readonly trace: Trace
  readonly key: SnapshotKey
  readonly gateway: Pick<Gateway, 'model'>
}

interface Work {
  type: BackgroundWork
  id: string
}

/** The owner of the results, as far as it is known. */
type BroughtObject = Omit<ObjectOwner, 'keyId'> & Pick<StoredObject, 'keyId' | 'requestId'>

type Sums = Map<string | null, BatchSum>

/** Usage in the results of one batch, or at the end of other background work, read while the bytes pass unchanged. */
export class BatchResults {
  readonly #call: ResultsCall
  readonly #object: BroughtObject
  readonly #work: Work
  readonly #sums: Sums = new Map()
  readonly #ended: { work: Work; sums: Sums; unread?: true }[] = []
  #crowded = 0
  #doubted = 0
  /** The rate for models without a price; undefined: not looked up yet. */
  #rate: ModelPrice | null | undefined
  readonly #lines = new LineScanner(lineBytes, (line) => this.#read(line))

  constructor(call: ResultsCall, object: BroughtObject, work: Work) {
    this.#call = call
    this.#object = object
    this.#work = work
  }

  add(chunk: Buffer): void {
    this.#lines.add(chunk)
  }

  /** All results have arrived. */
  end(): void {
    this.#lines.end()
    this.#ended.push({ work: this.#work, sums: this.#sums })
    const unread = this.#lines.skipped + this.#crowded
    if (unread > 0) this.#note(`${unread} results were too large to read: their usage is not counted.`)
    if (this.#doubted > 0)
      this.#note(
        `${this.#doubted} results report more than their model can have used: they are counted as what is possible, or by their length.`,
      )
    if (this.#sums.size > 0)
      this.#note('The usage that its results report is counted once, for the key that created it.')
  }

  /** Adds the ended work that a whole answer of `bytes` bytes shows. */
  take(ended: readonly EndedWork[], bytes: number): void {
    for (const work of ended) {
      const sums: Sums = new Map()
      let doubted = false
      for (const { model, lines, tokens, detail = null } of work.sums) {
        const believed = this.#believe(model, tokens, { lines, bytes: bytes / work.sums.length })
        doubted ||= believed !== tokens
        const batch = work.type === 'batch'
        add(sums, model, lines, this.#price(model, { tokens: believed, detail: detailOf(detail, batch) }, lines))
      }
      // The results report usage line by line. Until they are read, the whole hold stays.
      const byResults = doubted && work.hasResults === true
      if (doubted)
        this.#noteDoubt(
          work,
          byResults ? 'the usage in its results is counted instead' : 'only what is possible is counted',
        )
      this.#ended.push({
        work,
        sums: byResults ? new Map() : sums,
        ...(byResults || work.unread === true ? { unread: true } : {}),
      })
    }
  }

  #noteDoubt({ type, id }: Work, instead: string): void {
    this.#note(`The usage reported for the whole of it is more than it can have used: ${instead}.`, { type, id })
  }

  /** A stream that replayed a stored answer has ended. */
  takeShown({ shown }: AnswerFacts): void {
    const { responseBytes } = this.#call.trace
    if (shown !== null) this.take([{ ...this.#work, sums: shown }], responseBytes)
  }

  /** A stream has reported the usage of a run. It is on the stream's own record, so it is not counted again. */
  takeCounted(run: string): void {
    this.#ended.push({ work: { type: 'thread_run', id: run }, sums: new Map() })
  }

  /** Entries for the journal. */
  entries(): BatchUsageEntry[] {
    // Work without usage gets an entry too: it releases its hold.
    return this.#ended
      .filter(({ work }) => this.#mayCount(work))
      .map(({ work, sums, unread }) => ({ ...this.#entry(work, sums), ...(unread === true ? { unread } : {}) }))
  }

  /** The usage of an adopted response was counted where it was made. */
  #mayCount({ type }: Work): boolean {
    return this.#object.requestId !== null || !(type === 'response' || type === 'interaction')
  }

  #entry({ type, id }: Work, sums: Sums): BatchUsageEntry {
    const { projectId, environmentId, keyId, providerId, credentialId, requestId } = this.#object
    return {
      kind: 'batch-usage',
      type,
      requestId: this.#call.id,
      time: new Date().toISOString(),
      batchId: id,
      madeBy: requestId,
      lane: this.#call.lane.name,
      provider: this.#call.trace.provider,
      owner: { projectId, environmentId, keyId, providerId, credentialId },
      sums: [...sums.values()].map((sum) => this.#flagged(sum)),
      ...(sums.size > 0 ? this.#counters() : {}),
    }
  }

  /** The budgets of the key that made the work, and of the account. Budgets per end user are left out: the user is unknown here. */
  #counters(): Pick<BatchUsageEntry, 'counters'> {
    const { configuration } = this.#call.gateway.model
    const key = this.#key()
    const limits = key === null ? [] : (effectivePolicy(configuration.policies, key).limits ?? [])
    const account = configuration.providers.get(this.#object.providerId)?.limits ?? []
    const now = Date.now()
    const counters = [...limits, ...account].flatMap(({ counter, period, perUser }) =>
      period === null || perUser ? [] : [[counter, findPeriod(period, configuration.timeZone, now).name] as const],
    )
    return counters.length === 0 ? {} : { counters }
  }

  /** The key that made the work. For work in a list only the store knows it, so it is null here. */
  #key(): SnapshotKey | null {
    const { keyId, requestId } = this.#object
    const { key, gateway } = this.#call
    if (keyId === null || requestId === null) return null
    return key.id === keyId ? key : gateway.model.findKeyById(keyId)
  }

  /** Whether the answer contains all results in a readable form. */
  canRead({ status, headers }: { status: number; headers: string[] }): boolean {
    if (this.#call.match.endpoint.reportsUsage === 'end') {
      this.#note('The answer could not be read completely: the usage that it reports is not counted.')
      return false
    }
    if (status === 206)
      this.#note('A part of its results is not counted: results are counted when they are fetched completely.')
    if (status !== 200) return false
    const encoding = findHeader(headers, 'content-encoding') ?? 'identity'
    if (encoding === 'identity') return true
    this.#note('Its results came compressed and could not be read: they are not counted.')
    return false
  }

  #read(line: Buffer): void {
    if (holdsTooMuch(line, lineValues)) {
      this.#crowded++
      return
    }
    const found = this.#call.lane.objects.readResult?.(line) ?? null
    if (found === null) return
    for (const { model, tokens: reported, detail } of [found, ...(found.beside ?? [])]) {
      const tokens = this.#believe(model, reported, { lines: 1, bytes: line.length })
      if (tokens !== reported) this.#doubted++
      const used = { tokens, detail: detailOf(detail, this.#work.type === 'batch') }
      add(this.#sums, model, reported === found.tokens || model !== found.model ? 1 : 0, this.#price(model, used, 1))
    }
  }

  /** A single false report, for one line or in total, must not use up a budget. Prompts and tools of the requests are not known here. */
  #believe(model: string | null, tokens: TokenUsage, { lines, bytes }: { lines: number; bytes: number }): TokenUsage {
    if (Math.max(tokens.input, tokens.output) <= doubtedFrom) return tokens
    const times = Math.min(Math.max(1, lines), mostLines)
    const most = mostPossible(this.#find(model), { hostedTools: true, sent: 0, received: bytes / times })
    const fits = { input: tokens.input <= most.input * times, output: tokens.output <= most.output * times }
    if (fits.input && fits.output) return tokens
    return estimatedTokens(
      fits.input ? tokens.input : 0,
      fits.output ? tokens.output : Math.ceil(bytes / bytesPerToken),
    )
  }

  /** Prices each result by itself, since its length decides the rates. */
  #price(model: string | null, used: UsedTokens, lines: number): UsedTokens & { cost: Cost | null } {
    const { trace } = this.#call
    if (model === null || trace.provider === null || trace.priced === null) return { ...used, cost: null }
    const found = this.#find(model) ?? this.#unpriced()
    // A sum of several answers does not say how long each of them was.
    const price = found === null || lines === 1 ? found : { ...found, long_context: null }
    const nano = price === null ? null : costOf(used, price)
    const cost = price === null || nano === null ? null : { usd: usdOfNano(nano), price_version: price.version }
    return { ...used, cost }
  }

  /** With the reason why its cost is not whole, if it is not. */
  #flagged(sum: BatchSum): BatchSum {
    const { model, detail = null, cost = null } = sum
    const { trace } = this.#call
    if (model === null || trace.provider === null || trace.priced === null) return sum
    const price = this.#find(model) ?? this.#unpriced()
    const unpriced = price === null ? noPriceText(model) : unpricedText(model, price, { detail, cost })
    return unpriced === null ? sum : { ...sum, unpriced }
  }

  #find(model: string | null): ModelPrice | null {
    const { gateway, trace } = this.#call
    if (model === null || trace.provider === null || trace.priced === null) return null
    return gateway.model.prices.find({ provider: trace.provider, vendor: trace.priced.vendor, model })
  }

  /** The price that the policies of the key that made the work set for models without one. */
  #unpriced(): ModelPrice | null {
    if (this.#rate !== undefined) return this.#rate
    const { model } = this.#call.gateway
    const key = this.#object.keyId === null ? null : model.findKeyById(this.#object.keyId)
    const rule = key === null ? null : effectivePolicy(model.configuration.policies, key).unpriced
    this.#rate = rule?.price ?? null
    return this.#rate
  }

  #note(text: string, { type, id }: Work = this.#work): void {
    this.#call.trace.routingSignals.push({
      rule: 'batch',
      verdict: 'note',
      text: `${describeWork(type)} ${id}: ${text}`,
      data: { [type]: id },
    })
  }
}

interface UsedTokens {
  tokens: TokenUsage
  detail: UsageDetail | null
}

/** Whatever tier its answers state, a batch is paid at the rates of batches. */
const detailOf = (detail: UsageDetail | null, batch: boolean): UsageDetail | null =>
  batch ? usageDetail({ ...detail, batch }) : detail

function add(sums: Sums, name: string | null, lines: number, used: UsedTokens & { cost: Cost | null }): void {
  const named = name?.slice(0, modelCharacters) ?? null
  const model = sums.has(named) || sums.size < modelsLimit ? named : null
  const sum = sums.get(model)
  const { tokens, cost } = used
  const detail = addUsageDetail(sum?.detail ?? null, used.detail)
  const kept = detail === null ? {} : { detail }
  if (sum === undefined) sums.set(model, { id: newId('req'), model, lines, tokens, ...kept, cost })
  else {
    sum.lines += lines
    sum.tokens = addUsage(sum.tokens, tokens)
    Object.assign(sum, kept)
    sum.cost = addCost(sum.cost ?? null, cost)
  }
}

/** Adds costs at the same model's price. If one is unknown, so is the sum. */
function addCost(one: Cost | null, other: Cost | null): Cost | null {
  return one === null || other === null ? null : { ...one, usd: roundUsd(one.usd + other.usd) }
}

function describeWork(type: BackgroundWork): string {
  return type === 'batch' ? 'Batch' : `The ${type.replace('_', ' ')}`
}

/** The reader for a call whose answer contains batch results, or shows how other work ended; null for all other calls. */
export function resultsOf(call: ResultsCall, object: StoredObject): BatchResults | null {
  const { reportsUsage } = call.match.endpoint
  if (reportsUsage === undefined) return null
  const { type, id, batchId } = object
  if (type === 'response' || type === 'interaction' || type === 'batch')
    return new BatchResults(call, object, { type, id })
  if (type === 'eval') return new BatchResults(call, object, { type: 'eval_run', id })
  if (type === 'thread') return new BatchResults(call, object, { type: 'thread_run', id })
  return batchId === null ? null : new BatchResults(call, object, { type: 'batch', id: batchId })
}

/** For a list that shows ended batches. Each belongs to the key that made it, which the store knows. */
export function listedResults(call: ResultsCall, owner: ObjectOwner): BatchResults {
  return new BatchResults(call, { ...owner, requestId: null }, { type: 'batch', id: '' })
}
