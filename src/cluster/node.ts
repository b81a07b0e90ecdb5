import { errorText } from '../core/caught.ts'
import type { NodeCondition, NodeStanding } from '../core/node-condition.ts'
import type { RequestRecord } from '../core/record.ts'
import type { Keyring } from '../sealing/keyring.ts'
import type { StoreClient } from '../store/api.ts'
import type { ReplicaState } from '../store/replica/replica-types.ts'
import { endsAccess } from '../store/replica/shared-tables.ts'
import { type SharedLog, SharedWriter } from '../store/replica/shared-write.ts'
import { StoreReadOnly } from '../store/store-error.ts'
import { ClusterLink, type ClusterWorker } from './link.ts'
import { findLost, SeenMarks } from './lost-changes.ts'
import type { ClusterPeer, OutboxReport, Questions } from './protocol.ts'
import { awaitReach, type Reach } from './reach.ts'
import { type RevocationParts, Revocations } from './revocations.ts'
import { newIncarnation } from './self.ts'
import { findStanding, isSilent } from './standing.ts'
import { notYet, otherCluster, removed, sayLoss, sayWhy } from './troubles.ts'

export interface NodeParts extends Pick<RevocationParts, 'withReserve'> {
  store: StoreClient
  keyring: Keyring
  startThread(): ClusterWorker
  /** `cluster.node`. */
  name: string
  version: string
  log: Record<'info' | 'warn' | 'error', (message: string, fields?: Record<string, string | number>) => void>
  /** Why this node is cut off; null: it is not. */
  onTrouble(reason: string | null): void
  /** Why limits that nodes share cannot be granted; null: they can. */
  onValkey(reason: string | null): void
  /** The member that this node now is; null: it is alone. */
  onIdentity(member: { cluster: string; id: string } | null): void
  /** Sends changes from the cluster to every thread. */
  publish(): Promise<void>
  /** PostgreSQL was reached, possibly another server than before. */
  onMet(): void
  onRecall(counter: string, period: string): void
  /** Records that wait to be shipped; only called if records are shared. */
  onOutbox(report: OutboxReport): void
  /** Records of other nodes that have ended, while they are followed. */
  onEnded(records: RequestRecord[]): void
  /** The cluster thread was restarted. */
  onThread(): void
}

const meetAgainMs = 1000

/** A member of a cluster: keeps its replica up to date, and appends the changes made here. */
export class ClusterNode {
  readonly link: ClusterLink
  readonly #parts: NodeParts
  readonly #incarnation = newIncarnation()
  readonly #writer: SharedWriter
  readonly #revocations: Revocations
  /** Why nodes cannot notify each other over Valkey; null: they can. */
  #channelTrouble: string | null = notYet
  /** null: this gateway is not a member of a cluster. */
  #state: ReplicaState | null = null
  /** Set until PostgreSQL has confirmed that this is a member and that nothing is lost. */
  #trouble: string | null = notYet
  #linkTrouble: string | null = notYet
  #members: ClusterPeer[] = []
  #conditions: Record<string, NodeCondition> = {}
  #catching: Promise<boolean> | null = null
  #meeting: Promise<void> | null = null
  #publishing: Promise<void> | null = null
  #started = false
  #closed = false
  /** Why this node does not follow the cluster although it can reach it: changes and revocations do not take effect here. */
  behind: string | null = null
  #published = 0
  /** Number of the last change that was made by this node. */
  #appended = 0
  #met = false
  /** All rows must be read again: this version may know columns that the previous one ignored. */
  #needsAll = false
  #seen = new SeenMarks()

  constructor(parts: NodeParts) {
    this.#parts = parts
    const log: SharedLog = {
      trouble: () => this.#trouble,
      append: (change) => this.#append(change),
      catchUp: () => this.catchUp(),
      announce: ({ input }, taken) => {
        this.#revocations.announce(String(input[0]), taken)
        void this.#publishNow().catch(() => {})
      },
    }
    const { store } = parts
    this.#revocations = new Revocations({
      ...parts,
      self: () => this.#state,
      publish: () => this.#publishNow(),
      notify: (text, keeps) => this.link.notify(text, keeps),
      onNews: () => this.#appendPending(),
    })
    this.#writer = new SharedWriter({ store, alone: store.alone, log })
    this.link = new ClusterLink(() => parts.startThread(), {
      onLink: (trouble) => this.#onLink(trouble),
      onHead: (sequence, isMember) => this.#onHead(sequence, isMember),
      onMembers: (members, conditions) => {
        this.#members = members
        this.#conditions = conditions
      },
      onRecall: (counter, period) => parts.onRecall(counter, period),
      onValkey: (trouble) => parts.onValkey(trouble),
      onHeard: (texts) => this.#revocations.hear(texts),
      onChannel: (trouble) => this.#onChannel(trouble),
      onOutbox: parts.onOutbox,
      onEnded: parts.onEnded,
      onThread: parts.onThread,
    })
  }

  get state(): ReplicaState | null {
    return this.#state
  }

  get trouble(): string | null {
    return this.#state === null ? this.#linkTrouble : this.#trouble
  }

  /** The cluster has removed this node, or no longer exists. */
  get isOut(): boolean {
    return this.#state !== null && (this.#trouble === removed || this.#trouble === otherCluster)
  }

  /** Why records of other nodes cannot be read here; null: they can, as far as is known. */
  get apart(): string | null {
    if (this.#state === null) return null
    return this.isOut ? this.#trouble : this.#linkTrouble
  }

  /** The number of the last change that every thread has. */
  get published(): number {
    return this.#published
  }

  /** The conditions of the others, some seconds old; null for a node that is not heard from, or while PostgreSQL is away. */
  listConditions(): (ClusterPeer & { state: NodeStanding; condition: NodeCondition | null })[] {
    const others = this.#state === null ? [] : this.#members.filter((member) => !this.#isOwn(member))
    return others.map((peer) => ({ ...peer, state: this.findStanding(peer), condition: this.findCondition(peer) }))
  }

  findStanding(peer: ClusterPeer): NodeStanding {
    return findStanding(peer, this.#isOwn(peer), this.#trouble)
  }

  /** The condition of any node, including this one, some seconds old; null: it is not heard from. */
  findCondition(peer: ClusterPeer): NodeCondition | null {
    const isHeard = findStanding(peer, false, this.#trouble) === 'present'
    return isHeard ? (this.#conditions[peer.id] ?? null) : null
  }

  /** How far this node's clock is ahead of PostgreSQL's; null: unknown. */
  get clockAheadMs(): number | null {
    const own = this.#members.find((member) => this.#isOwn(member))
    return (own === undefined ? undefined : this.findCondition(own)?.clockAheadMs) ?? null
  }

  /** As PostgreSQL lists them, or last listed them. */
  async listMembers(): Promise<readonly ClusterPeer[]> {
    if (this.trouble === null && this.#state !== null)
      this.#members = await this.link.ask('members', null).catch(() => this.#members)
    return this.#members
  }

  /** Resumes as the member that the database names, whether PostgreSQL can be reached or not. */
  async open(): Promise<void> {
    const state = await this.#parts.store.replica({ act: 'state' })
    if (state !== null) this.stand(state, state.behindSchema)
  }

  /** From now on this gateway is that member. */
  stand(state: ReplicaState, needsAll = false): void {
    this.#state = state
    this.#needsAll = needsAll
    this.#seen = new SeenMarks()
    this.#seen.note([[state.sequence, state.mark]])
    this.#appended = 0
    this.#parts.store.share((call) => this.#writer.write(call))
    this.#parts.onIdentity({ cluster: state.cluster, id: state.member })
    if (this.#linkTrouble === null) this.#meet()
    else this.#setTrouble(this.#linkTrouble)
  }

  /** From now on this gateway is alone. */
  standAlone(): void {
    this.#state = null
    this.#members = []
    this.#met = false
    this.link.be(null)
    this.#parts.store.share(null)
    this.#parts.onIdentity(null)
    this.#setTrouble(null)
  }

  /** The first configuration has been published: from now on, changes from the cluster are too. */
  start(): void {
    this.#started = true
    if (this.#state !== null) this.#publish()
  }

  get self() {
    const { cluster, member } = this.#state ?? { cluster: '', member: '' }
    return { cluster, member, incarnation: this.#incarnation }
  }

  /** Resolves when the meeting in progress is over. */
  async settled(): Promise<void> {
    await this.#meeting
    if (this.#trouble !== null) throw new StoreReadOnly(this.#trouble)
  }

  /** Reads the cluster's latest changes; returns whether there were any. A caller that comes meanwhile needs a later reading. */
  async catchUp(): Promise<boolean> {
    while (this.#catching !== null) await this.#catching.catch(() => {})
    this.#catching = this.#readRows()
    try {
      return await this.#catching
    } finally {
      this.#catching = null
    }
  }

  /**
   * Resolves when every member knows that this is revoked, or two seconds after it was. null: when each has what this node
   * has changed so far.
   */
  async confirm(subject: string | null): Promise<Reach> {
    const announced = subject === null ? null : this.#revocations.find(subject)
    const head = Math.max(this.#appended, this.#state?.sequence ?? 0)
    const has = (member: ClusterPeer) => {
      if (this.#isOwn(member)) return announced !== null || (this.#state?.sequence ?? 0) >= head
      if (announced?.has.has(member.id)) return true
      const sequence = announced === null ? head : announced.sequence
      return this.#trouble === null && typeof sequence === 'number' && member.applied >= sequence
    }
    return await awaitReach({
      since: announced?.since ?? null,
      // What goes by Valkey as well may reach who is silent.
      ...{ has, mayHave: (member) => announced !== null || !isSilent(member) },
      ...{ members: () => this.#members, listMembers: () => this.listMembers() },
      isHeard: () => this.#trouble === null || (this.#channelTrouble === null && announced !== null),
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.link.close()
  }

  #isOwn({ id }: ClusterPeer): boolean {
    return id === this.#state?.member
  }

  #appendPending(): void {
    if (this.#trouble === null) void this.#writer.appendPending().catch(() => {})
  }

  #onChannel(trouble: string | null): void {
    const isNew = trouble !== this.#channelTrouble
    this.#channelTrouble = trouble
    if (trouble === null) void this.#revocations.repeat().catch(() => {})
    else if (isNew) this.#parts.log.warn('revocations are not heard over Valkey', { reason: trouble })
  }

  /** At start, nothing is published before the threads have everything they need. */
  async #publishNow(): Promise<void> {
    if (this.#started) await this.#parts.publish()
  }

  async #append(change: Parameters<SharedLog['append']>[0]): Promise<'appended' | 'moved'> {
    const answer = await this.link.ask('append', { ...this.self, ...change })
    if (answer > 0) {
      this.#revocations.noteAppended(change.token, answer)
      this.#appended = answer
      return 'appended'
    }
    if (answer === -1) return 'moved'
    this.#setTrouble(answer === -2 ? removed : otherCluster)
    throw new StoreReadOnly(answer === -2 ? removed : otherCluster)
  }

  async #readRows(): Promise<boolean> {
    const state = this.#state
    if (state === null) return false
    const after = this.#needsAll ? 0 : state.sequence
    const { sequence, mark, rows, marks } = await this.link.ask('rows', { after })
    if (sequence <= state.sequence && !this.#needsAll) return false
    const extent = this.#needsAll ? 'all' : 'changes'
    const apply = () => this.#parts.store.replica({ act: 'apply', rows: { rows, sequence, mark, extent } })
    try {
      await (endsAccess(rows) ? this.#parts.withReserve(apply) : apply())
    } catch (error) {
      throw this.#fallBehind(sequence, error)
    }
    if (this.behind !== null) this.#parts.onTrouble(this.#trouble)
    this.behind = null
    this.#needsAll = false
    this.#seen.note(marks)
    // The node may have left meanwhile.
    if (this.#state?.member === state.member) this.#state = { ...state, sequence, mark }
    this.#publish()
    return true
  }

  #fallBehind(sequence: number, error: unknown): StoreReadOnly {
    const reason = `a change of the cluster cannot be applied here: ${errorText(error)}`
    if (reason !== this.behind) this.#parts.log.error(reason, { sequence })
    this.behind = reason
    this.#parts.onTrouble(reason)
    return new StoreReadOnly(reason)
  }

  /** Publishes one change at a time, then tells the cluster how far this node's threads are. */
  #publish(): void {
    if (!this.#started || this.#publishing !== null) return
    const { sequence = 0 } = this.#state ?? {}
    this.#publishing = this.#parts
      .publish()
      .then(
        async () => {
          this.#published = sequence
          await this.link.ask('applied', { ...this.self, sequence }).catch(() => {})
        },
        (error: unknown) => this.#parts.log.error('the configuration was not published', { reason: String(error) }),
      )
      .finally(() => {
        this.#publishing = null
        if ((this.#state?.sequence ?? 0) > sequence) this.#publish()
      })
  }

  #onLink(trouble: string | null): void {
    this.#linkTrouble = trouble === null ? null : sayLoss(trouble)
    if (this.#state === null) return this.#setTrouble(null)
    if (this.#linkTrouble === null) this.#meet()
    else this.#setTrouble(this.#linkTrouble)
  }

  #onHead(sequence: number, isMember: boolean): void {
    if (this.#state === null) return
    if (this.#trouble !== null && this.#linkTrouble !== null) return
    if (this.#trouble !== null || !isMember) return this.#meet()
    if (sequence > this.#state.sequence) void this.catchUp().catch(() => {})
    else if (sequence < this.#state.sequence) this.#meet()
  }

  #meet(): void {
    this.#meeting ??= this.#meetOnce()
      .catch((error: unknown) => this.#setTrouble(errorText(error)))
      .finally(() => {
        this.#meeting = null
        // The cause may be fixed in PostgreSQL without losing the connection: a right, a table, the cluster itself.
        if (this.#isCut()) setTimeout(() => this.#isCut() && this.#meet(), meetAgainMs).unref()
      })
  }

  /** Cut off although PostgreSQL can be reached. */
  #isCut(): boolean {
    return !this.#closed && this.#state !== null && this.#linkTrouble === null && this.#trouble !== null
  }

  async #meetOnce(): Promise<void> {
    const state = this.#state
    if (state === null) return
    const { name, version } = this.#parts
    const { sequence, mark } = state
    const meet = () => this.link.ask('meet', { ...this.self, name, version, sequence, mark, isFirst: !this.#met })
    let met = await meet()
    if (met.state === 'lost' && (await this.#restore(state, met))) met = await meet()
    if (met.state !== 'member') return this.#setTrouble(sayWhy(met.state, name, state.sequence, met.sequence))
    this.#met = true
    this.link.be(this.self)
    await this.catchUp().then(() => this.link.ask('may-change', null))
    this.#setTrouble(null)
    this.#parts.onMet()
    this.#members = await this.link.ask('members', null)
    await this.#writer.appendPending()
  }

  /** Appends what a standby that took over had not received, if nobody has changed anything since. */
  async #restore(state: ReplicaState, { sequence, mark }: Questions['meet']['output']): Promise<boolean> {
    const { store, log } = this.#parts
    const marks = this.#seen.between(sequence, state.sequence)
    if (mark === null || !this.#seen.has(sequence, mark) || marks.at(-1)?.[1] !== state.mark) return false
    const [own, there] = [await store.replica({ act: 'export' }), await this.link.ask('rows', { after: 0 })]
    const changes = findLost(own.rows, there.rows)
    const restored = await this.link.ask('restore', { ...this.self, sequence, mark, changes, marks })
    if (restored) log.warn('PostgreSQL had lost changes; this node restored them', { changes: marks.length })
    return restored
  }

  #setTrouble(reason: string | null): void {
    this.#trouble = reason
    if (reason !== notYet) this.#parts.onTrouble(this.#state === null ? null : reason)
  }
}
