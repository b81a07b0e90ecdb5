import type { OutboxReport } from '../cluster/protocol.ts'
import type { ClusterSettings } from '../config/settings.ts'
import { Isolation } from './isolation.ts'
import type { SharedRecords } from './shared-records.ts'

/** null: the part is well. */
export type ReportCluster = (
  part: 'postgres' | 'outbox' | 'records' | 'isolated' | 'membership',
  reason: string | null,
) => void

interface NodeView {
  isMember(): boolean
  /** Also before it is known which. */
  hasKeys(): boolean
}

const unjoined =
  'this gateway has not joined its cluster yet, and has no keys: spgw cluster join TOKEN, or on the first node spgw cluster init'

/** What of a node's cluster is degraded, for whoever listens. */
export class ClusterTroubles {
  readonly #isolation: Isolation
  /** null: they are not shared. */
  readonly #records: SharedRecords | null
  readonly #node: NodeView
  #report: ReportCluster = () => {}

  constructor(
    { isolationMs, valkey }: Pick<ClusterSettings, 'isolationMs' | 'valkey'>,
    records: SharedRecords | null,
    node: NodeView,
  ) {
    this.#isolation = new Isolation(isolationMs, valkey !== null)
    this.#records = records
    this.#node = node
  }

  /** `postgres`: why that is not reached by now. */
  listen(report: ReportCluster, postgres: string | null): void {
    this.#report = report
    report('postgres', postgres)
  }

  notePostgres(reason: string | null): void {
    this.#report('postgres', reason)
    if (this.#records !== null) this.noteRecords(reason)
    this.#isolation.note('postgres', reason)
    this.#showIsolation()
  }

  noteValkey(reason: string | null): void {
    this.#isolation.note('valkey', reason)
    this.#showIsolation()
  }

  noteRecords(reason: string | null): void {
    this.#report('records', reason)
  }

  hear(report: OutboxReport): void {
    this.#report('outbox', this.#records?.hear(report, Date.now()) ?? null)
  }

  /** From time to time, and when this gateway has become a member: what shows by nothing else that happens. */
  look(): void {
    // Whoever is alone brings nothing to PostgreSQL, and its thread says nothing of it.
    const silence = this.#node.isMember() ? (this.#records?.findSilence() ?? null) : null
    if (silence !== null) this.#report('outbox', silence)
    this.#showIsolation()
    // It would refuse every request that a load balancer sends to it.
    this.#report('membership', this.#node.isMember() || this.#node.hasKeys() ? null : unjoined)
  }

  #showIsolation(): void {
    this.#report('isolated', this.#node.isMember() ? this.#isolation.find() : null)
  }
}
