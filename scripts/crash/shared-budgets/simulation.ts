import { seededRandom } from '../random.ts'
import { type AuthorityRules, allRules, BudgetAuthority } from './authority.ts'
import { Events } from './events.ts'
import { type Counts, type NodeRules, SimulatedNode, type World } from './simulated-node.ts'

export interface Simulated {
  seed: number
  nodes: number
  /** Nano-dollars. */
  most: number
  /** A second, of all nodes. */
  requests: number
  /** What a request costs on average. */
  cost: number
  seconds: number
  /** Of all requests, to one node; null: evenly. */
  skew: number | null
  /** Deaths, partitions and failovers, one of each in so many seconds; null: none. */
  faults: { deaths: number; partitions: number; failovers: number } | null
  /** PostgreSQL is not reached by anybody, in seconds. */
  away?: [from: number, until: number]
  rules?: Partial<AuthorityRules & NodeRules>
}

export interface SimulationResult extends Counts {
  /** Shares of the budget. */
  unused: number
  most: number
}

const nodeRules: NodeRules = { lowersFirst: true, onlyLast: true, readsJournal: true }
/** By so much a failover may forget. */
const lagMs = 500

/** Nodes that spend one budget under faults, in simulated time: nothing of it depends on the machine. */
export function simulate(options: Simulated): SimulationResult {
  return new Simulation(options).run()
}

class Simulation {
  readonly #options: Simulated
  readonly #events = new Events()
  readonly #random
  readonly #nodes: SimulatedNode[]
  readonly #counts: Counts = { requests: 0, refused: 0, refusedWithRoom: 0, waited: 0, calls: 0, overspent: 0 }
  readonly #world: World
  #timeline = 1

  constructor(options: Simulated) {
    const { seed, nodes, most, rules, faults } = options
    this.#options = options
    this.#random = seededRandom(seed)
    const period = { name: '2026-11', start: 0, end: Number.MAX_SAFE_INTEGER }
    this.#world = {
      ...{ events: this.#events, random: this.#random, counts: this.#counts },
      authority: new BudgetAuthority({ ...allRules, ...rules }),
      rules: { ...nodeRules, ...rules },
      budget: { counter: 'pol_1 workspace usd month', period, most, sequence: 1, warns: false },
      check: () => this.#check(),
      room: () => most - this.#used(),
      recall: (key, from) =>
        this.#events.after(3, () => {
          for (const node of this.#nodes) if (node.name !== from) node.recall(key)
        }),
      faults: faults === null ? { lost: 0, delayed: 0 } : { lost: 0.02, delayed: 0.02 },
    }
    this.#nodes = Array.from({ length: nodes }, (_, index) => new SimulatedNode(`gw-${index}`, this.#world))
  }

  run(): SimulationResult {
    const { seconds, most, faults, away } = this.#options
    for (const node of this.#nodes) node.start()
    this.#arrive()
    if (faults !== null) {
      this.#every(faults.deaths, (node) => this.#kill(node))
      this.#every(faults.partitions, (node) => this.#cut([node], this.#random.between(500, 15_000)))
      this.#every(faults.failovers, () => this.#failOver())
    }
    if (away !== undefined) this.#events.after(away[0] * 1000, () => this.#cut(this.#nodes, (away[1] - away[0]) * 1000))
    this.#events.run(seconds * 1000)
    return { ...this.#counts, most, unused: Math.max(0, most - this.#used()) / most }
  }

  #used(): number {
    return this.#nodes.reduce((sum, { spentInTruth }) => sum + spentInTruth, 0)
  }

  #check(): void {
    this.#counts.overspent = Math.max(this.#counts.overspent, this.#used() - this.#options.most)
  }

  #arrive(): void {
    const { requests, cost, skew } = this.#options
    const random = this.#random
    this.#events.after(-Math.log(1 - random.next()) * (1000 / requests), () => {
      const [first] = this.#nodes
      const node = skew !== null && random.chance(skew) ? first : random.pick(this.#nodes)
      const own = Math.max(1, Math.round(cost * (0.5 + random.next())))
      // A hold is up to five times what it costs.
      node?.request(Math.round(own * (1 + 4 * random.next())), own, random.between(200, 4000))
      this.#arrive()
    })
  }

  #every(seconds: number, run: (node: SimulatedNode) => void): void {
    this.#events.after(this.#random.between(seconds * 200, seconds * 1800), () => {
      run(this.#random.pick(this.#nodes))
      this.#every(seconds, run)
    })
  }

  #kill(node: SimulatedNode): void {
    if (!node.isUp) return
    node.die()
    this.#events.after(this.#random.between(500, 20_000), () => node.comeBack())
  }

  #cut(nodes: readonly SimulatedNode[], ms: number): void {
    for (const node of nodes) node.isCut = true
    this.#events.after(ms, () => {
      for (const node of nodes) {
        node.isCut = false
        node.reconnect()
      }
    })
  }

  /** What was committed last is lost, and every connection. */
  #failOver(): void {
    const { authority } = this.#world
    const kept = authority.copy()
    this.#events.after(lagMs, () => {
      const { members } = authority.state
      authority.failOver({ ...kept, members }, `${++this.#timeline}`)
      for (const node of this.#nodes) node.reconnect()
    })
  }
}
