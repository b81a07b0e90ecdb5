import { newId } from '../../core/ids.ts'
import type { BatchSum, BatchUsageEntry } from '../../core/journal-format.ts'
import { LineScanner } from '../../core/line-scan.ts'
import type { Signal } from '../../core/record.ts'
import type { StoredObject } from '../../core/stored-object.ts'
import type { Lane, Match } from '../../lanes/contract.ts'
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

/** Usage in the results of one batch, read while they pass; the bytes are not touched. */
export class BatchResults {
  readonly #exchange: Bringer
  readonly #object: StoredObject
  readonly #batchId: string
  readonly #sums = new Map<string | null, BatchSum>()
  readonly #lines = new LineScanner(lineBytes, (line) => this.#read(line))
  #whole = false

  constructor(exchange: Bringer, object: StoredObject, batchId: string) {
    this.#exchange = exchange
    this.#object = object
    this.#batchId = batchId
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

  /** For the journal; null where nothing counts. */
  entry(): BatchUsageEntry | null {
    if (!this.#whole || this.#sums.size === 0) return null
    const { projectId, environmentId, keyId, providerId, credentialId } = this.#object
    return {
      kind: 'batch-usage',
      requestId: this.#exchange.id,
      time: new Date().toISOString(),
      batchId: this.#batchId,
      lane: this.#exchange.lane!.name,
      provider: this.#exchange.provider,
      owner: { projectId, environmentId, keyId, providerId, credentialId },
      sums: [...this.#sums.values()],
    }
  }

  /** Whether they come whole and can be read. */
  canRead({ status, headers }: { status: number; headers: string[] }): boolean {
    if (status === 206) this.#note('A part of its results counts nothing: they count when they are asked for whole.')
    if (status !== 200) return false
    const encoding = findHeader(headers, 'content-encoding') ?? 'identity'
    if (encoding === 'identity') return true
    this.#note('Its results came compressed and could not be read: they count nothing.')
    return false
  }

  #read(line: Buffer): void {
    const found = this.#exchange.lane!.objects.readResult?.(line) ?? null
    if (found === null) return
    const named = found.model?.slice(0, modelCharacters) ?? null
    const model = this.#sums.has(named) || this.#sums.size < modelsLimit ? named : null
    const sum = this.#sums.get(model)
    if (sum === undefined) this.#sums.set(model, { id: newId('req'), model, lines: 1, tokens: found.tokens })
    else {
      sum.lines++
      sum.tokens = addUsage(sum.tokens, found.tokens)!
    }
  }

  #note(text: string): void {
    const data = { batch: this.#batchId }
    this.#exchange.routingSignals.push({
      rule: 'batch',
      verdict: 'note',
      text: `Batch ${this.#batchId}: ${text}`,
      data,
    })
  }
}

/** Of a call that brings the results of a batch; null for all others. */
export function resultsOf(exchange: Bringer, object: StoredObject): BatchResults | null {
  if (exchange.match!.endpoint.brings === undefined) return null
  const batchId = object.type === 'batch' ? object.id : object.batchId
  return batchId === null ? null : new BatchResults(exchange, object, batchId)
}
