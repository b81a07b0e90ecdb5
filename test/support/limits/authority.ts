import {
  bucketMs,
  type LimitCall,
  type LimitReply,
  type RowFigures,
  type StatedRow,
  silentMs,
  windowBuckets,
} from '../../../src/cluster/limits/call.ts'

interface Entry {
  node: string
  share: number
  /** Bucket of the first amount; 0: requests at once. */
  first: number
  held: number[]
}

interface Node {
  life: string
  number: number
  members: number
  acked?: number
  stated?: boolean
  even?: number
}

interface State {
  epoch: number
  tag: string
  run: string
  bucket: number
  open: boolean
  opens: number
  nodes: Record<string, Node>
  dead: Record<string, number>
}

export interface AuthorityData {
  state: State | null
  rows: Record<string, { epoch: number; entries: Record<string, Entry> }>
}

/** Rules of the authority that a test leaves out, to see what they are good for. */
export interface LeftOut {
  /** No share is kept back for whoever is absent. */
  even?: boolean
  /** Calls are taken in whatever order they come. */
  numbers?: boolean
  /** A new server grants at once. */
  closing?: boolean
  /** A used share stays as large as it was. */
  charge?: boolean
  /** The life before may no longer have used anything. */
  dead?: boolean
}

/** What `src/cluster/limits/script.ts` does, line by line, in a language whose clock and failures a test has in its hands. */
export class Authority {
  data: AuthorityData = { state: null, rows: {} }
  readonly #leftOut: LeftOut

  constructor(leftOut: LeftOut = {}) {
    this.#leftOut = leftOut
  }

  answer(call: LimitCall, keys: readonly string[], now: number): LimitReply {
    const { rows } = this.data
    const lost = call.rows.some((stated, index) => stated[5] === 1 && rows[keys[index] ?? ''] === undefined)
    const state = this.#open(call, now, lost)
    const reply = (code: LimitReply['code'], figures: RowFigures[] = []): LimitReply => {
      this.data.state = state
      return { code, epoch: state.epoch, tag: state.tag, time: now, open: state.open, rows: figures }
    }
    if (call.epoch !== state.epoch) return reply('new')
    state.bucket = Math.max(state.bucket, Math.floor(now / bucketMs), call.bucket)
    if (state.dead[call.life] !== undefined) return reply('dead')
    const own = this.#nodeOf(state, call)
    if (call.number <= own.number && this.#leftOut.numbers !== true) return reply('old')
    own.number = call.number
    own.members = call.members.length
    if (call.whole) {
      if (call.ack > 0) own.acked = call.ack
      if (call.known) own.stated = true
    }
    for (const [life, died] of Object.entries(state.dead)) if (state.bucket > died + 360) delete state.dead[life]
    if (!state.open) {
      const allStated = call.members.every((id) => state.nodes[id]?.stated === true)
      if (allStated || state.bucket >= state.opens || this.#leftOut.closing === true) state.open = true
    }
    return reply(
      'ok',
      call.rows.map((stated, index) => this.#grant(state, call, stated, keys[index] ?? '')),
    )
  }

  #open(call: LimitCall, now: number, lost: boolean): State {
    const { state } = this.data
    if (state !== null && state.run === call.run && call.epoch <= state.epoch) {
      const differs = call.tag !== state.tag || call.doubt || lost
      if (call.epoch < state.epoch || !differs) return state
    }
    const bucket = Math.floor(now / bucketMs)
    return {
      epoch: Math.max(state?.epoch ?? 0, call.epoch) + 1,
      tag: `${call.run}:${now}`,
      run: call.run,
      ...{ bucket, open: false, opens: bucket + windowBuckets + 1, nodes: {}, dead: {} },
    }
  }

  #silentBuckets(state: State, node: Node | undefined): number {
    if (node?.acked === undefined) return windowBuckets
    return state.bucket - Math.floor((node.acked + silentMs) / bucketMs)
  }

  #nodeOf(state: State, call: LimitCall): Node {
    const before = state.nodes[call.node]
    if (before?.life === call.life) return before
    const since = this.#silentBuckets(state, before)
    const own: Node = { life: call.life, number: 0, members: call.members.length }
    if (before !== undefined) state.dead[before.life] = state.bucket
    if (before?.even !== undefined) own.even = before.even
    if (since >= windowBuckets && !call.known) own.even = state.bucket + windowBuckets - 1
    state.nodes[call.node] = own
    return own
  }

  #grant(state: State, call: LimitCall, stated: StatedRow, key: string): RowFigures {
    const [limit = 0, slot = 0, want = 0, need = 0, givenShare = 0, , ...held] = stated
    const slots = slot === 1
    const share = Math.max(0, givenShare)
    const members = call.members.length
    const { bucket } = state
    const row = this.data.rows[key]
    const entries = row?.epoch === state.epoch ? row.entries : {}
    const late = bucket - call.bucket
    const mine: Entry = {
      node: call.node,
      share,
      first: slots ? 0 : bucket - windowBuckets + 1,
      held: slots ? [held[0] ?? 0] : Array.from({ length: windowBuckets }, (_, place) => held[place + late] ?? 0),
    }
    entries[call.life] = mine
    let charged = 0
    const apart: Record<string, number> = {}
    for (const [life, entry] of Object.entries(entries)) {
      if (life !== call.life && this.#isOver(state, call, life, entry, slots)) {
        delete entries[life]
        continue
      }
      charged += heldOf(entry, bucket) + entry.share
      if (state.dead[life] === undefined) apart[entry.node] = slots ? heldOf(entry, bucket) : entry.share
    }
    charged += this.#evenParts(state, call, limit, apart)
    let room = Math.max(0, limit - charged)
    let given = 0
    if (state.open && want > 0) {
      given = Math.min(Math.max(want, Math.floor(room / (4 * members))), Math.floor(room / members))
      if (given < need) given = need <= room ? need : 0
    }
    const frees = state.open && !slots && given < need ? findRoom(Object.values(entries), bucket, need - room) : 0
    room -= given
    let offered = share
    if (state.open && !slots && givenShare >= 0) {
      const rest = room + share
      offered = Math.min(Math.floor(limit / members), Math.floor(rest / (2 * members)))
      if (offered === 0 && rest >= members && limit >= members) offered = 1
    }
    mine.share = this.#leftOut.charge === true ? offered : Math.max(share, offered)
    mine.held[mine.held.length - 1] = (mine.held.at(-1) ?? 0) + given
    if (heldOf(mine, bucket) + mine.share === 0) delete entries[call.life]
    if (Object.keys(entries).length === 0) delete this.data.rows[key]
    else this.data.rows[key] = { epoch: state.epoch, entries }
    return { given, share: offered, room, frees }
  }

  #isOver(state: State, call: LimitCall, life: string, entry: Entry, slots: boolean): boolean {
    const node = state.nodes[entry.node]
    const died = state.dead[life]
    if (died === undefined)
      return !call.members.includes(entry.node) && this.#silentBuckets(state, node) >= windowBuckets
    if (this.#leftOut.dead === true) return true
    return slots ? node?.acked !== undefined : state.bucket >= died + windowBuckets
  }

  #evenParts(state: State, call: LimitCall, limit: number, apart: Record<string, number>): number {
    if (this.#leftOut.even === true) return 0
    let sum = 0
    for (const id of call.members) {
      const node = state.nodes[id]
      const part = Math.floor(limit / (node?.members ?? call.members.length))
      if (this.#silentBuckets(state, node) >= 1) sum += Math.max(0, part - (apart[id] ?? 0))
      if (node?.even !== undefined && node.even >= state.bucket) sum += part
    }
    return sum
  }
}

/** In how many buckets so much more leaves the window. */
function findRoom(entries: readonly Entry[], bucket: number, missing: number): number {
  const leaving = Array.from({ length: windowBuckets }, (_, place) =>
    entries.reduce((sum, { first, held }) => sum + (held[bucket - windowBuckets + 1 + place - first] ?? 0), 0),
  )
  const sums = leaving.map((_, place) => leaving.slice(0, place + 1).reduce((sum, amount) => sum + amount, 0))
  return sums.findIndex((sum) => sum >= missing) + 1
}

function heldOf({ first, held }: Entry, bucket: number): number {
  return held.reduce(
    (sum, amount, place) => (first === 0 || first + place > bucket - windowBuckets ? sum + amount : sum),
    0,
  )
}
