import type { RequestRecord } from '../../src/core/record.ts'
import type { Call } from './call.ts'
import type { Ledger, Served } from './provider.ts'

/** Problems beyond these are counted, but not listed. */
const listedProblems = 40

export interface Counts {
  requests: number
  /** Ids that a client saw in a head. */
  ids: number
  checked: number
  /** Of these, refusals in a flood that name a record which many share. */
  shared: number
  lost: number
  doubled: number
  wrong: number
  settled: number
  interrupted: number
}

/** All that clients and providers know, against which the gateway's records are held. */
export class Account {
  readonly ledger: Ledger
  readonly counts = { checked: 0, shared: 0, lost: 0, doubled: 0, wrong: 0, settled: 0, interrupted: 0 }
  /** Base URLs of gateways that send whoever they do not know to others: 503 in place of 401. */
  readonly outsiders = new Set<string>()
  readonly #calls = new Map<string, Call>()
  /** Record id by mark. */
  readonly #found = new Map<string, string>()
  readonly #problems = new Set<string>()
  /** Marks of calls whose record is another's too. */
  readonly #sharing = new Set<string>()
  #pending: Call[] = []

  constructor(ledger: Ledger) {
    this.ledger = ledger
  }

  get problems(): string[] {
    return [...this.#problems].slice(0, listedProblems)
  }

  add(call: Call): void {
    this.#calls.set(call.mark, call)
    this.#pending.push(call)
  }

  /** Marks of calls that must have a record sooner or later. */
  due(): string[] {
    const admitted = ({ id, mark }: Call) => id !== null || this.ledger.has(mark)
    return [...this.#calls.values()].filter(admitted).map(({ mark }) => mark)
  }

  /**
   * Records since the last look, read from a gateway that none of the calls so far went to. `resolve` finds the record
   * that an id names: of a flood of refusals, many share one.
   */
  async check(
    records: readonly RequestRecord[],
    resolve: (id: string) => Promise<RequestRecord | null>,
  ): Promise<void> {
    for (const record of records) this.#check(record)
    for (const call of this.#pending) {
      this.#expectServed(call)
      const { id, kind, mark, status } = call
      const mayShare = kind === 'flood' && !this.#found.has(mark)
      if (mayShare && id !== null && (await resolve(id))?.status === status) this.#sharing.add(mark)
      this.#expectFound(call, this.#found)
    }
    this.counts.checked += this.#pending.filter(({ id }) => id !== null).length
    this.counts.shared = this.#sharing.size
    this.#pending = []
  }

  /** Of calls since the last look, before `check`: who has a stored answer whole must be known as its owner. `owners`: requests that have one. */
  checkObjects(owners: ReadonlySet<string | null>): void {
    for (const call of this.#pending)
      if (call.stores && isAnswered(call) && !owners.has(call.id))
        this.#report('lost', `${describe(call)} has no stored answer`)
  }

  /** Every record there is: what was right once must be so for good. */
  checkAll(records: readonly RequestRecord[]): void {
    const found = new Map<string, string>()
    for (const record of records) {
      const mark = this.#check(record)
      if (mark !== null) found.set(mark, record.id)
      if (record.state === 'interrupted') this.counts.interrupted++
      else this.counts.settled++
    }
    if (new Set(records.map(({ id }) => id)).size !== records.length) this.#report('doubled', 'an id is listed twice')
    for (const call of this.#calls.values()) this.#expectFound(call, found)
  }

  /** Input and output of all calls that were answered whole, by the providers' account. */
  served(): { input: number; output: number } {
    const sum = { input: 0, output: 0 }
    for (const call of this.#calls.values()) {
      if (!isAnswered(call)) continue
      const usage = this.#answerOf(call)?.usage
      sum.input += usage?.input ?? 0
      sum.output += usage?.output ?? 0
    }
    return sum
  }

  /** The same by the records. */
  recorded(records: readonly RequestRecord[]): { input: number; output: number } {
    const sum = { input: 0, output: 0 }
    for (const { tags, tokens } of records) {
      const call = this.#calls.get(tags.mark ?? '')
      if (call === undefined || !isAnswered(call)) continue
      sum.input += tokens?.input ?? 0
      sum.output += tokens?.output ?? 0
    }
    return sum
  }

  total(): Counts {
    const calls = [...this.#calls.values()]
    return { requests: calls.length, ids: calls.filter(({ id }) => id !== null).length, ...this.counts }
  }

  wrong(what: string): void {
    this.#report('wrong', what)
  }

  #report(count: 'lost' | 'doubled' | 'wrong', what: string): void {
    // Records are read more than once, and a call is looked for at each look: one fault is one problem.
    const problem = `${count}: ${what}`
    if (this.#problems.has(problem)) return
    this.#problems.add(problem)
    this.counts[count]++
  }

  /** The mark of its call; null when it is nobody's. */
  #check(record: RequestRecord): string | null {
    const mark = record.tags.mark
    const call = mark === undefined ? undefined : this.#calls.get(mark)
    if (mark === undefined || call === undefined) {
      this.#report('wrong', `${record.id} is a record of nobody's request`)
      return null
    }
    const expected = call.id ?? this.#found.get(mark) ?? record.id
    if (record.id !== expected) this.#report('doubled', `${describe(call)} has ${record.id} besides ${expected}`)
    this.#found.set(mark, expected)
    const fault = this.#faultOf(call, record)
    if (fault !== null) this.#report('wrong', `${describe(call)}: ${fault}: ${shorten(record)}`)
    return mark
  }

  #faultOf(call: Call, record: RequestRecord): string | null {
    if (record.state === 'admitted') return 'still admitted, and its gateway is dead'
    if (record.state === 'interrupted') {
      if (call.complete) return 'interrupted, and the client has it whole'
      return holdsTrue(call, record) ? null : 'not charged its hold'
    }
    if (!call.complete) return null
    if (record.status !== call.status) return `status ${record.status}, and the client got ${call.status}`
    if (!isAnswered(call)) return null
    const usage = this.#answerOf(call)?.usage ?? null
    return JSON.stringify(record.tokens) === JSON.stringify(usage) ? null : `not ${JSON.stringify(usage)}`
  }

  /** Keys, routes and credentials that were acknowledged work on, whatever was killed in between. */
  #expectServed(call: Call): void {
    if (call.status === null || call.status === expectedStatus(call)) return
    if (call.status === 503 && call.kind === 'bad-key' && this.outsiders.has(call.to ?? '')) return
    this.#report('wrong', `${describe(call)} was answered ${call.status}`)
  }

  #expectFound(call: Call, found: ReadonlyMap<string, string>): void {
    if (found.has(call.mark) || this.#sharing.has(call.mark)) return
    if (call.id !== null) this.#report('lost', `${describe(call)} has no record`)
    // What a provider was sent was admitted before, and that stands in the journal.
    else if (this.ledger.has(call.mark)) this.#report('lost', `${describe(call)} reached a provider and has no record`)
  }

  /** Of several attempts only one was answered well. */
  #answerOf(call: Call): Served | undefined {
    return this.ledger.get(call.mark)?.findLast(({ status }) => status === 200)
  }
}

function expectedStatus({ kind }: Call): number {
  if (kind === 'bad-key' || kind === 'flood') return 401
  return kind === 'unknown-model' ? 404 : 200
}

function isAnswered(call: Call): boolean {
  return call.complete && call.status === 200
}

function holdsTrue(call: Call, { tokens, policy_signals }: RequestRecord): boolean {
  const charged = tokens?.input === Math.ceil(call.bodyBytes / 4) && tokens.output === (call.outputLimit ?? 0)
  return charged && tokens.source === 'estimated' && policy_signals.some(({ rule }) => rule === 'interrupted')
}

function describe({ mark, id, kind, lane, status, complete, hungUp }: Call): string {
  const seen = complete ? 'whole' : hungUp ? 'hung up' : 'cut'
  return `${mark} (${id ?? 'no id seen'}, ${kind} on ${lane}, ${status ?? 'no status'}, ${seen})`
}

function shorten({ id, state, status, error, tokens, attempts }: RequestRecord): string {
  return JSON.stringify({ id, state, status, error: error?.code, tokens, attempts: attempts.length })
}
