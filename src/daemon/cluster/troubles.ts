import type { ClusterNode } from '../../cluster/node.ts'
import type { OutboxReport } from '../../cluster/protocol.ts'
import { notYet, removed } from '../../cluster/troubles.ts'
import type { ClusterSettings } from '../../config/settings.ts'
import type { RecordReaderParts } from '../records/read-records.ts'
import { Isolation } from './isolation.ts'
import type { SharedRecords } from './shared-records.ts'

/** null: the part is well. */
export type ReportCluster = (
  part: 'postgres' | 'outbox' | 'records' | 'isolated' | 'membership',
  reason: string | null,
) => void

interface TroublesParts {
  node(): Pick<ClusterNode, 'state' | 'trouble' | 'apart'>
  /** Also before it is known which. */
  hasKeys(): boolean
}

const unjoined =
  'this gateway has not joined its cluster yet, and has no keys: spgw cluster join TOKEN, or on the first node spgw cluster init'
/** Also where the nodes are listed: with what to do. */
export const outOfIt =
  'this node was removed from the cluster, receives no changes, and spends nothing of shared budgets: stop it, or let it continue alone with spgw cluster leave'
const ownOnly =
  'this node was removed from the cluster, and shows its own requests only: see those of all on another node, and stop this one, or let it continue alone with spgw cluster leave'

/** So long PostgreSQL may take at a start before it is said that it was not reached. */
const quietMs = 5000

/** What of a node's cluster is degraded, for whoever listens. */
export class ClusterTroubles {
  readonly #isolation: Isolation
  /** null: they are not shared. */
  readonly #records: SharedRecords | null
  readonly #parts: TroublesParts
  readonly #cut = Promise.withResolvers<void>()
  /** Resolves when PostgreSQL is known to be of no use to this node for the first time. */
  readonly cut: Promise<void> = this.#cut.promise
  /** For whoever reads records. */
  readonly reading: Pick<RecordReaderParts, 'out' | 'onApart'> = {
    out: () => {
      const { apart } = this.#parts.node()
      return apart === notYet ? null : apart
    },
    onApart: (reason) => this.noteRecords(reason),
  }
  #report: ReportCluster = () => {}
  /** What it said last. */
  #postgres: string | null = null
  readonly #begun = performance.now()

  constructor(
    { isolationMs, valkey }: Pick<ClusterSettings, 'isolationMs' | 'valkey'>,
    records: SharedRecords | null,
    parts: TroublesParts,
  ) {
    this.#isolation = new Isolation(isolationMs, valkey !== null)
    this.#records = records
    this.#parts = parts
  }

  /** `postgres`: why that is not reached by now. */
  listen(report: ReportCluster, postgres: string | null): void {
    this.#report = report
    report('postgres', postgres)
  }

  notePostgres(reason: string | null): void {
    if (reason !== null) this.#cut.resolve()
    this.#report('postgres', reason)
    // It is said again and again while it lasts: what a reading has met stands until one succeeds.
    const isNew = reason !== this.#postgres
    this.#postgres = reason
    if (this.#records !== null && (isNew || this.#parts.node().apart !== null)) this.noteRecords(null)
    this.#isolation.note('postgres', reason)
    this.#showMembership()
    this.#showIsolation()
  }

  noteValkey(reason: string | null): void {
    this.#isolation.note('valkey', reason)
    this.#showIsolation()
  }

  /** What a reading met. What the node knows comes first: a reading that began before may succeed after it was removed. */
  noteRecords(reason: string | null): void {
    const { apart } = this.#parts.node()
    this.#report('records', apart === removed ? ownOnly : (apart ?? reason))
  }

  hear(report: OutboxReport): void {
    this.#report('outbox', this.#records?.hear(report, Date.now()) ?? null)
  }

  /** From time to time, and when this gateway has become a member: what shows by nothing else that happens. */
  look(now = performance.now()): void {
    const { trouble } = this.#parts.node()
    const isSlow = this.#isMember && trouble === notYet && now - this.#begun >= quietMs
    if (isSlow && this.#postgres === null) this.notePostgres(notYet)
    // Whoever is alone brings nothing to PostgreSQL, and its thread says nothing of it.
    const silence = this.#isMember ? (this.#records?.findSilence() ?? null) : null
    if (silence !== null) this.#report('outbox', silence)
    this.#showIsolation()
    this.#showMembership()
  }

  get #isMember(): boolean {
    return this.#parts.node().state !== null
  }

  /** Whoever looks for it must be sent nothing: it would refuse every request, or answer for a cluster that it is out of. */
  #showMembership(): void {
    const isKnown = this.#isMember || this.#parts.hasKeys()
    this.#report('membership', this.#parts.node().trouble === removed ? outOfIt : isKnown ? null : unjoined)
  }

  #showIsolation(): void {
    this.#report('isolated', this.#isMember ? this.#isolation.find() : null)
  }
}
