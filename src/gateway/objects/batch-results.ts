import { newId } from '../../core/ids.ts'
import type { BatchSum, BatchUsageEntry, LateWork } from '../../core/journal-format.ts'
import { LineScanner } from '../../core/line-scan.ts'
import type { Signal, TokenUsage } from '../../core/record.ts'
import type { StoredObject } from '../../core/stored-object.ts'
import type { EndedWork, Lane, Match, Seen } from '../../lanes/contract.ts'
import { addUsage } from '../../lanes/usage-sum.ts'
import { findHeader } from '../headers.ts'

/** A longer line is not read: so much is held for a moment, and parsed at once. */
const lineBytes = 4 * 1024 * 1024
/** Results of more models are summed as if they named none. */
const modelsLimit = 50
const modelCharacters = 512

/** What must be known of the exchange that brings them. */
interface Bringer {
  readonly id: string
  lane: Lane | null
  match: Match | null
  provider: string | null
  routingSignals: Signal[]
}

interface Work {
  type: LateWork
  id: string
}

/** Usage in the results of one batch, read while they pass, or in the end of other work; the bytes are not touched. */
export class BatchResults {
  readonly #exchange: Bringer
  readonly #object: StoredObject
  #work: Work
  readonly #sums = new Map<string | null, BatchSum>()
  readonly #lines = new LineScanner(lineBytes, (line) => this.#read(line))
  #whole = false

  constructor(exchange: Bringer, object: StoredObject, work: Work) {
    this.#exchange = exchange
    this.#object = object
    this.#work = work
  }

  add(chunk: Buffer): void {
    this.#lines.add(chunk)
  }

  /** All of them have come. */
  end(): void {
    this.#lines.end()
    this.#whole = true
    const { skipped } = this.#lines
    if (skipped > 0) this.#note(`${skipped} results were too long to be read: what they used is not counted.`)
    if (this.#sums.size > 0) this.#note('What its results say was used counts once, under the key that made it.')
  }

  /** A whole answer has been read: how it ended, where it has. */
  take(ended: EndedWork | null): void {
    if (ended === null) return
    this.#work = ended
    this.#whole = true
    for (const { model, lines, tokens } of ended.sums) this.#count(model, lines, tokens)
  }

  /** A stream that showed an answer again is over. */
  takeShown({ shown, model }: Seen): void {
    if (shown !== null) this.take({ ...this.#work, sums: [{ model, lines: 1, tokens: shown }] })
  }

  /** For the journal; null where nothing counts. */
  entry(): BatchUsageEntry | null {
    if (!this.#whole || this.#sums.size === 0) return null
    const { projectId, environmentId, keyId, providerId, credentialId, requestId } = this.#object
    const { type, id } = this.#work
    // Of what somebody adopted, what it used was counted where it was made.
    if (requestId === null && (type === 'response' || type === 'interaction')) return null
    return {
      kind: 'batch-usage',
      type,
      requestId: this.#exchange.id,
      time: new Date().toISOString(),
      batchId: id,
      madeBy: requestId,
      lane: this.#exchange.lane!.name,
      provider: this.#exchange.provider,
      owner: { projectId, environmentId, keyId, providerId, credentialId },
      sums: [...this.#sums.values()],
    }
  }

  /** Whether they come whole and can be read. */
  canRead({ status, headers }: { status: number; headers: string[] }): boolean {
    if (this.#exchange.match!.endpoint.brings === 'end') {
      this.#note('The answer could not be read whole: what it tells of usage counts nothing.')
      return false
    }
    if (status === 206) this.#note('A part of its results counts nothing: they count when they are asked for whole.')
    if (status !== 200) return false
    const encoding = findHeader(headers, 'content-encoding') ?? 'identity'
    if (encoding === 'identity') return true
    this.#note('Its results came compressed and could not be read: they count nothing.')
    return false
  }

  #read(line: Buffer): void {
    const found = this.#exchange.lane!.objects.readResult?.(line) ?? null
    if (found !== null) this.#count(found.model, 1, found.tokens)
  }

  #count(name: string | null, lines: number, tokens: TokenUsage): void {
    const named = name?.slice(0, modelCharacters) ?? null
    const model = this.#sums.has(named) || this.#sums.size < modelsLimit ? named : null
    const sum = this.#sums.get(model)
    if (sum === undefined) this.#sums.set(model, { id: newId('req'), model, lines, tokens })
    else {
      sum.lines += lines
      sum.tokens = addUsage(sum.tokens, tokens)!
    }
  }

  #note(text: string): void {
    const { type, id } = this.#work
    this.#exchange.routingSignals.push({
      rule: 'batch',
      verdict: 'note',
      text: `${describeWork(type)} ${id}: ${text}`,
      data: { [type]: id },
    })
  }
}

function describeWork(type: LateWork): string {
  return type === 'batch' ? 'Batch' : `The ${type.replace('_', ' ')}`
}

/** Of a call that brings the results of a batch, or how other work ended; null for all others. */
export function resultsOf(exchange: Bringer, object: StoredObject): BatchResults | null {
  const { brings } = exchange.match!.endpoint
  if (brings === undefined) return null
  const { type, id, batchId } = object
  if (type === 'response' || type === 'interaction' || type === 'batch')
    return new BatchResults(exchange, object, { type, id })
  if (type === 'eval') return new BatchResults(exchange, object, { type: 'eval_run', id })
  return batchId === null ? null : new BatchResults(exchange, object, { type: 'batch', id: batchId })
}
