import { randomUUID } from 'node:crypto'
import type { TelemetrySettings } from '../../config/settings.ts'
import { errorText } from '../../core/caught.ts'
import type { Transport } from '../../providers/contract.ts'
import type { StoreClient } from '../../store/api.ts'
import type { Log } from '../log.ts'
import { type OtlpSpan, writeExport } from './otlp.ts'
import { type ExportOutcome, sendTraces } from './send-traces.ts'
import { type SpanProvider, spansOf } from './spans.ts'

const lookEveryMs = 2000
/** Records of one export, which alone are in memory; the others wait in the store. */
const batch = 256
/** So many may wait while the collector does not answer; then the oldest are given up. */
export const mostPending = 100_000
const firstPauseMs = 1000
const longestPauseMs = 60_000
/** An end of the process waits no longer. */
const stopMs = 5000

export interface TraceExporterOptions {
  store: Pick<StoreClient, 'traces' | 'keepTraces'>
  transport(): Promise<Transport>
  /** By its name; null: there is none of that name now. */
  provider(name: string): SpanProvider | null
  version: string
  log: Log
  /** For pauses alone, so by a clock that nobody sets. */
  now?(): number
  random?(): number
}

/** Of requests, since the start; `retries` counts exports. */
export interface TraceCounts {
  exported: number
  /** By the collector, for good. */
  rejected: number
  /** Too many waited. */
  overflow: number
  /** Their record was removed before they were exported. */
  removed: number
}

export interface TraceState {
  endpoint: string
  pending: number
  outcomes: TraceCounts
  retries: number
  /** Why the last export failed; null: it did not. */
  trouble: string | null
}

/**
 * Exports settled records as traces. What waits is in the store, put there by the transaction that stored the record, and is
 * removed when the collector has accepted it: every record is exported, and exported once, but for a crash between the
 * collector's answer and its note, after which the same spans are sent again under the same ids.
 */
export class TraceExporter {
  readonly #options: TraceExporterOptions
  readonly #instance = randomUUID()
  readonly #outcomes: TraceCounts = { exported: 0, rejected: 0, overflow: 0, removed: 0 }
  #settings: TelemetrySettings | null = null
  #timer: NodeJS.Timeout | null = null
  #looking: Promise<void> | null = null
  #pending = 0
  #retries = 0
  #failures = 0
  #notBefore = 0
  #trouble: string | null = null

  constructor(options: TraceExporterOptions) {
    this.#options = options
  }

  /** null: nothing is exported any more, and nothing new waits. */
  change(settings: TelemetrySettings | null): void {
    this.#settings = settings
    this.#notBefore = 0
    this.#options.store.keepTraces(settings !== null)
    if (settings === null) {
      this.#stopTimer()
      // What was to be exported is not, and must not be when that is wanted again some day.
      void this.#options.store.traces.trim(0).catch(() => {})
      return
    }
    this.#timer ??= setInterval(() => void this.look(), lookEveryMs).unref()
  }

  /** What waits by then is exported if the collector takes it soon; else the next start goes on with it. */
  async stop(): Promise<void> {
    this.#stopTimer()
    const { promise: timedOut, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, stopMs)
    await Promise.race([this.#exportRest(), timedOut])
    clearTimeout(timer)
    this.#settings = null
  }

  /** null: traces are not exported. */
  state(): TraceState | null {
    if (this.#settings === null) return null
    const { endpoint } = this.#settings
    return {
      ...{ endpoint, pending: this.#pending, retries: this.#retries, trouble: this.#trouble },
      outcomes: { ...this.#outcomes },
    }
  }

  /** Exports what waits, batch by batch, until nothing does or an export fails. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#fail(errorText(error), null))
      .finally(() => {
        this.#looking = null
      })
    return this.#looking
  }

  async #exportRest(): Promise<void> {
    await this.#looking
    this.#notBefore = 0
    await this.look()
  }

  async #look(): Promise<void> {
    const { traces } = this.#options.store
    while (this.#settings !== null && this.#now() >= this.#notBefore) {
      const waiting = await traces.take(batch)
      const last = waiting.at(-1)
      if (last !== undefined) await this.#export(waiting, last.sequence)
      this.#pending = last === undefined ? 0 : await traces.pending()
      if (this.#pending > mostPending) this.#outcomes.overflow += await traces.trim(mostPending)
      if (waiting.length < batch) return
    }
  }

  async #export(waiting: Awaited<ReturnType<StoreClient['traces']['take']>>, through: number): Promise<void> {
    const { store, transport, provider, version } = this.#options
    const settings = this.#settings
    if (settings === null) return
    const records = waiting.flatMap(({ record }) => (record === null ? [] : [record]))
    const spans = records.flatMap((record) => spansOf(record, provider))
    const sent = await this.#send(settings, spans, { transport, version })
    if (sent.outcome === 'unavailable') return this.#fail(sent.reason, sent.retryAfterMs)
    await store.traces.finish(through)
    this.#outcomes.removed += waiting.length - records.length
    this.#outcomes[sent.outcome === 'accepted' ? 'exported' : 'rejected'] += records.length
    this.#failures = 0
    this.#report(describeRejected(sent, records.length))
  }

  async #send(
    settings: TelemetrySettings,
    spans: readonly OtlpSpan[],
    { transport, version }: Pick<TraceExporterOptions, 'transport' | 'version'>,
  ): Promise<ExportOutcome> {
    if (spans.length === 0) return { outcome: 'accepted', rejectedSpans: 0, message: null }
    const body = writeExport(spans, { version, instance: this.#instance })
    return await sendTraces(await transport(), settings, body)
  }

  /** Longer after each failure, and never two gateways at the same moment. */
  #fail(reason: string, retryAfterMs: number | null): void {
    const { random = Math.random } = this.#options
    const grown = Math.min(longestPauseMs, firstPauseMs * 2 ** this.#failures)
    this.#notBefore = this.#now() + Math.max(retryAfterMs ?? 0, grown * (0.5 + random() / 2))
    this.#failures++
    this.#retries++
    this.#report(reason)
  }

  #report(reason: string | null): void {
    if (reason === this.#trouble) return
    if (reason !== null) this.#options.log.warn('traces were not exported', { reason })
    else this.#options.log.info('traces are exported again')
    this.#trouble = reason
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #now(): number {
    return this.#options.now?.() ?? performance.now()
  }
}

function describeRejected(sent: Exclude<ExportOutcome, { outcome: 'unavailable' }>, records: number): string | null {
  if (sent.outcome === 'rejected') return `the collector rejected ${records} requests: ${sent.reason}`
  if (sent.rejectedSpans === 0) return null
  return `the collector rejected ${sent.rejectedSpans} spans${sent.message === null ? '' : `: ${sent.message}`}`
}
