import { bucketMs, type LimitCall, type LimitReply, windowBuckets } from '../../../src/cluster/limits/call.ts'
import { SharedWindows } from '../../../src/cluster/limits/windows.ts'
import { Authority, type AuthorityData, type LeftOut } from './authority.ts'
import { EventQueue } from './event-queue.ts'
import { MemoryCell, randomFrom } from './memory-cell.ts'

export interface Scenario {
  seed: number
  nodes: number
  limit: number
  /** Asked for a minute by all nodes together, as a multiple of the limit. */
  load: number
  /** One node gets this part of all requests; null: all the same. */
  uneven: number | null
  seconds: number
  /** Milliseconds between two faults; null: none. */
  faultEveryMs: number | null
  /** Which; else any. */
  faults?: readonly FaultKind[]
  /** Each way; else about one. */
  latencyMs?: number
  /** Of calls and replies that come late; else 1 %. */
  lateRate?: number
  amount?: number
  leftOut?: LeftOut & NodeLeftOut
}

/**
 * Another server takes over that lacks 300 ms, has nothing, or has all; a node is killed and starts again; it hears nothing, is
 * not heard, or both.
 */
const faultKinds = ['failover', 'loss', 'restart', 'kill', 'deaf', 'mute', 'cut'] as const
export type FaultKind = (typeof faultKinds)[number]

/** Rules of the node that a test leaves out. */
export interface NodeLeftOut {
  /** The even part is used from the first bucket of the absence. */
  seventh?: boolean
  /** Replies count, whichever call they answer. */
  late?: boolean
  /** A bucket is entered at the first moment that it may have begun. */
  clock?: boolean
}

export interface Outcome {
  /** Spans of 60 s that were looked at, and the largest use in one. */
  spans: number
  above: number
  most: number
  asked: number
  admitted: number
  /** Refused although a single counter would have had room. */
  refusedWithRoom: number
  calls: number
}

interface SimulatedNode {
  id: string
  windows: SharedWindows
  cell: MemoryCell
  rate: number
  offset: number
  /** Nothing arrives there, or from there. */
  deafUntil: number
  muteUntil: number
  downUntil: number
  lives: number
  /** Number of its latest call. */
  latest: number
  /** What it used while it was absent, where that is allowed at once. */
  early: { bucket: number; amount: number }[]
  inFlight: boolean
  gaveUpAt: number
}

interface Server {
  authority: Authority
  run: string
  offset: number
}

const waitMs = 100
const tickMs = 50
const timeoutMs = 250
const limitId = 'limit'

/** Nodes and their Valkey in simulated time, by events. Time is Valkey's; nodes' clocks run a little faster or slower. */
export class ClusterSimulation {
  readonly #scenario: Scenario
  readonly #random: () => number
  readonly #nodes: SimulatedNode[] = []
  #server: Server
  #servers = 0
  /** As text, since it is taken thousands of times and read seldom. */
  #replica = 'null'
  #serverAwayUntil = 0
  #now = 1_000_000_000_000
  readonly #start = this.#now
  readonly #events = new EventQueue()
  readonly #admitted: { at: number; amount: number }[] = []
  readonly #outcome: Outcome = { spans: 0, above: 0, most: 0, asked: 0, admitted: 0, refusedWithRoom: 0, calls: 0 }
  #windowStart = 0

  constructor(scenario: Scenario) {
    this.#scenario = scenario
    this.#random = randomFrom(scenario.seed)
    this.#server = this.#newServer(null)
    for (let index = 0; index < scenario.nodes; index++) this.#nodes.push(this.#newNode(index))
  }

  run(): Outcome {
    const { seconds, faultEveryMs } = this.#scenario
    for (const node of this.#nodes) {
      this.#every(tickMs, () => this.#tick(node))
      this.#nextRequest(node)
    }
    if (faultEveryMs !== null) {
      this.#every(300, () => {
        this.#replica = JSON.stringify(this.#server.authority.data)
      })
      this.#every(faultEveryMs, () => this.#fault())
    }
    this.#events.runUntil(this.#start + seconds * 1000, (at) => {
      this.#now = at
    })
    return { ...this.#outcome, ...this.#count() }
  }

  #newServer(data: AuthorityData | null): Server {
    const authority = new Authority(this.#scenario.leftOut)
    if (data !== null) authority.data = structuredClone(data)
    return { authority, run: `run-${++this.#servers}`, offset: this.#servers === 1 ? 0 : (this.#random() - 0.5) * 4000 }
  }

  #newNode(index: number): SimulatedNode {
    const cell = new MemoryCell(this.#scenario.limit)
    const node: SimulatedNode = {
      ...{ id: `node-${index}`, cell, rate: 1 + (this.#random() - 0.5) * 0.0002, offset: this.#random() * 1e9 },
      ...{ deafUntil: 0, muteUntil: 0, downUntil: 0, lives: 0, latest: 0, early: [], inFlight: false, gaveUpAt: 0 },
      windows: null as never,
    }
    this.#begin(node, true)
    return node
  }

  #begin(node: SimulatedNode, quiet: boolean): void {
    node.lives++
    let names = 0
    node.windows = new SharedWindows({
      node: node.id,
      newLife: () => `${node.id}:${node.lives}:${names++}`,
      quiet,
      without: 'share',
      now: this.#localTime(node),
    })
    node.windows.setMembers(Array.from({ length: this.#scenario.nodes }, (_, index) => `node-${index}`))
    node.cell.takeBack()
    node.cell.wanted = []
    node.inFlight = false
    node.windows.add({ id: limitId, slots: false }, node.cell)
  }

  #localTime(node: SimulatedNode): number {
    return node.offset + (this.#now - this.#start) * node.rate
  }

  #every(ms: number, run: () => void): void {
    const again = () => {
      run()
      this.#events.add(this.#now + ms, again)
    }
    this.#events.add(this.#now + this.#random() * ms, again)
  }

  #tick(node: SimulatedNode): void {
    if (this.#now < node.downUntil) return
    if (node.downUntil > 0) {
      node.downUntil = 0
      this.#begin(node, false)
    }
    node.windows.tick(this.#localTime(node))
    if (node.windows.find(limitId) === undefined) node.windows.add({ id: limitId, slots: false }, node.cell)
    this.#send(node)
  }

  #send(node: SimulatedNode): void {
    if (node.inFlight && this.#now < node.gaveUpAt) return
    const call = node.windows.nextCall(this.#localTime(node), this.#server.run)
    if (call === null) return
    node.latest = call.number
    if (call.rows.length > 0) this.#outcome.calls++
    node.inFlight = true
    node.gaveUpAt = this.#now + timeoutMs
    const { windows } = node
    const server = this.#server
    this.#events.add(this.#now + this.#delay(2000), () => this.#arrive(node, windows, server, call))
  }

  #arrive(node: SimulatedNode, windows: SharedWindows, server: Server, call: LimitCall): void {
    if (this.#now < node.muteUntil || this.#now < this.#serverAwayUntil || server !== this.#server) return
    const reply = server.authority.answer(
      call,
      call.rows.map(() => limitId),
      Math.floor(this.#now + server.offset),
    )
    if (this.#isFaulty() && this.#random() < 0.02) return
    this.#events.add(this.#now + this.#delay(3000), () => {
      if (this.#now < node.deafUntil || windows !== node.windows || this.#now < node.downUntil) return
      this.#receive(node, call, reply)
    })
  }

  #receive(node: SimulatedNode, call: LimitCall, reply: LimitReply): void {
    node.inFlight = false
    // Whoever takes each reply for that to its latest call.
    if (this.#scenario.leftOut?.late === true) node.latest = Math.max(node.latest, call.number)
    const number = this.#scenario.leftOut?.late === true ? node.latest : call.number
    node.windows.accept(number, reply, this.#localTime(node))
    if (node.cell.wanted.length > 0) this.#send(node)
  }

  #delay(mostMs: number): number {
    const { latencyMs = 1, lateRate = 0.01 } = this.#scenario
    const late = this.#isFaulty() && this.#random() < lateRate ? this.#random() * mostMs : 0
    return latencyMs * (0.2 + this.#random()) + late
  }

  #isFaulty(): boolean {
    return this.#scenario.faultEveryMs !== null
  }

  #nextRequest(node: SimulatedNode): void {
    const { limit, load, uneven, nodes, amount = 1 } = this.#scenario
    const part = uneven === null ? 1 / nodes : node === this.#nodes[0] ? uneven : (1 - uneven) / Math.max(1, nodes - 1)
    const meanMs = 60_000 / ((limit * load * part) / amount)
    const gap = -Math.log(1 - this.#random()) * meanMs
    this.#events.add(this.#now + gap, () => {
      this.#request(node, amount)
      this.#nextRequest(node)
    })
  }

  #request(node: SimulatedNode, amount: number): void {
    if (this.#now < node.downUntil) return
    this.#outcome.asked += amount
    const until = this.#now + waitMs
    const isFirst = this.#take(node, amount)
    if (isFirst) return
    node.cell.wanted.push(amount)
    this.#send(node)
    const { windows } = node
    const look = () => {
      if (windows !== node.windows || this.#now < node.downUntil) return
      if (this.#take(node, amount)) return void node.cell.wanted.splice(node.cell.wanted.indexOf(amount), 1)
      if (this.#now < until) return this.#events.add(this.#now + 2, look)
      node.cell.wanted.splice(node.cell.wanted.indexOf(amount), 1)
      if (this.#used() + amount <= this.#scenario.limit) this.#outcome.refusedWithRoom += amount
    }
    this.#events.add(this.#now + 2, look)
  }

  #take(node: SimulatedNode, amount: number): boolean {
    const { leftOut } = this.#scenario
    const bucket = leftOut?.clock === true ? node.windows.bucket : node.windows.clock.bucket(this.#localTime(node))
    const takes = node.cell.take(bucket, amount) || (leftOut?.seventh === true && this.#takeEarly(node, amount))
    if (!takes) return false
    this.#admitted.push({ at: this.#now, amount })
    this.#outcome.admitted += amount
    return true
  }

  #takeEarly({ windows, early }: SimulatedNode, amount: number): boolean {
    if (!windows.isAbsent()) return false
    const { limit, nodes } = this.#scenario
    const used = early
      .filter(({ bucket }) => bucket > windows.bucket - windowBuckets)
      .reduce((sum, one) => sum + one.amount, 0)
    if (used + amount > Math.floor(limit / nodes)) return false
    early.push({ bucket: windows.bucket, amount })
    return true
  }

  /** In the last seven buckets. */
  #used(): number {
    const since = (Math.floor(this.#now / bucketMs) - windowBuckets + 1) * bucketMs
    let sum = 0
    for (let index = this.#admitted.length - 1; index >= 0; index--) {
      const one = this.#admitted[index]
      if (one === undefined || one.at < since) break
      sum += one.amount
      if (sum >= this.#scenario.limit) break
    }
    return sum
  }

  #count(): { spans: number; above: number; most: number } {
    let [above, most, sum] = [0, 0, 0]
    for (const { at, amount } of this.#admitted) {
      sum += amount
      for (;;) {
        const oldest = this.#admitted[this.#windowStart]
        if (oldest === undefined || oldest.at > at - 60_000) break
        sum -= oldest.amount
        this.#windowStart++
      }
      most = Math.max(most, sum)
      if (sum > this.#scenario.limit) above++
    }
    return { spans: this.#admitted.length, above, most }
  }

  #fault(): void {
    const node = this.#nodes[Math.floor(this.#random() * this.#nodes.length)]
    if (node === undefined) return
    const lasts = this.#random() < 0.3 ? 70_000 + this.#random() * 60_000 : 500 + this.#random() * 30_000
    const until = this.#now + lasts
    const kinds = this.#scenario.faults ?? faultKinds
    const kind = kinds[Math.floor(this.#random() * kinds.length)]
    if (kind === 'failover') this.#fail(JSON.parse(this.#replica), 500 + this.#random() * 3000)
    else if (kind === 'loss') this.#fail(null, 500 + this.#random() * 3000)
    else if (kind === 'restart') this.#fail(this.#server.authority.data, lasts)
    else if (kind === 'kill') {
      node.downUntil = this.#now + 200 + this.#random() * (this.#random() < 0.3 ? 90_000 : 5000)
      node.cell.takeBack()
    }
    if (kind === 'deaf' || kind === 'cut') node.deafUntil = until
    if (kind === 'mute' || kind === 'cut') node.muteUntil = until
  }

  /** Another server goes on with that data after a while. */
  #fail(data: AuthorityData | null, awayMs: number): void {
    this.#server = this.#newServer(data)
    this.#replica = JSON.stringify(this.#server.authority.data)
    this.#serverAwayUntil = this.#now + awayMs
  }
}
