import type { RequestRecord } from '../../core/record.ts'
import type { StoreClient } from '../../store/api.ts'

/**
 * `log.requests: json`: one line of JSON on standard error for each request that has ended, whatever the level and format of the rest
 * of the log. The lines are made of the stored records, so that the data plane does no more than without.
 */
export class RequestLog {
  readonly #store: Pick<StoreClient, 'onRecords'>
  readonly #write: (line: string) => void
  #stop: (() => void) | null = null

  constructor(store: Pick<StoreClient, 'onRecords'>, write: (line: string) => void) {
    this.#store = store
    this.#write = write
  }

  change(on: boolean): void {
    if (on === (this.#stop !== null)) return
    this.#stop?.()
    this.#stop = on ? this.#store.onRecords((records) => this.#write(records.map(requestLine).join(''))) : null
  }
}

/** Fields as on the record, without what only one request's page needs; `attempts` is their number. */
function requestLine(record: RequestRecord): string {
  const { time, attempts, timeline, policy_signals, routing_signals, losses, usage_detail, ...fields } = record
  return `${JSON.stringify({ time, level: 'info', message: 'request', ...fields, attempts: attempts.length })}\n`
}
