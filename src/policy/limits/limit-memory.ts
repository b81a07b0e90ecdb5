import { hash } from 'node:crypto'
import { ledgerBytes } from './hold-ledger.ts'

/**
 * The counters of limits, in memory that all threads share. A counter is a row of words, found by its name through an index with open
 * addressing, and created on first use. So only counters in use take memory, and no thread assigns places: threads that ask for the same
 * name get the same row. A row stays until the process ends.
 */
export interface LimitMemory {
  /** 64-bit words: the index of the next row, whether counters are seeded, how many there are, then the rows. It grows. */
  words: SharedArrayBuffer
  /** For each name's hash the index of its row; 0: none. */
  index: SharedArrayBuffer
  /** What each thread holds: `HoldLedger`. */
  holds: SharedArrayBuffer
  /** What this node counts together with others, and of which it may only use its own grants. */
  shared: SharedCounts
}

export interface SharedCounts {
  budgets: boolean
  /** Limits per minute and requests at once: the memory of `BucketClock`; null: this node counts them alone. */
  windows: SharedArrayBuffer | null
}

const alone: SharedCounts = { budgets: false, windows: null }

const indexSize = 1 << 20
/** Keeps searches short. */
const mostRows = Math.floor(indexSize * 0.7)
/** For end users, whose names the clients choose: the rest stays free for the counters of keys. */
const mostUserRows = Math.floor(mostRows / 2)
/** End users of one limit. */
const mostUsers = 100_000
const mostWords = 1 << 27
/** Names whose rows a thread remembers. */
const mostKnown = 4096
const firstWords = 1 << 13
const bytesPerWord = BigInt64Array.BYTES_PER_ELEMENT
/** Words before the first row. */
const next = 0
const open = 1
const rows = 2
const userRows = 3
const clock = 4
const cutOff = 5
const setBack = 6
const head = 8
/** A row begins with its name's hash. */
export const rowHead = 2

export function createLimitMemory(columns: number, shared = alone): LimitMemory {
  const words = new SharedArrayBuffer(firstWords * bytesPerWord, { maxByteLength: mostWords * bytesPerWord })
  new BigInt64Array(words)[next] = BigInt(head)
  const [index, holds] = [new SharedArrayBuffer(indexSize * 4), new SharedArrayBuffer(ledgerBytes(columns))]
  return { words, index, holds, shared }
}

/** A row, and the name that it was found by: a hold in one row must be booked under the same name. */
export interface NamedRow {
  counter: string
  row: number
}

/** The name of an end user's counter. */
function userCounter(counter: string, user: string): string {
  return `${counter} ${user}`
}

/** The counter of all end users without a row of their own. No blank follows the counter's name, so it cannot be a user's. */
const othersCounter = (counter: string): string => `${counter}/others`
const usersCounter = (counter: string): string => `${counter}/users`

const userForm = /^(\S+ \S+ \S+ \w+) (.*)$/s

/** The parts of an end user's counter name; null: it is not one user's. */
export function readUserCounter(name: string): { counter: string; user: string } | null {
  const [, counter, user] = userForm.exec(name) ?? []
  return counter === undefined || user === undefined ? null : { counter, user }
}

const wordsOf = (buffer: SharedArrayBuffer) => new BigInt64Array(buffer, 0, buffer.byteLength / bytesPerWord)
const cellsOf = (buffer: SharedArrayBuffer) =>
  new Int32Array(buffer, 0, buffer.byteLength / Int32Array.BYTES_PER_ELEMENT)

export class LimitRows {
  readonly #buffer: SharedArrayBuffer
  /** A view of all rows found so far. Its length is fixed: in a view that grows with its memory each access takes twice as long. */
  words: BigInt64Array
  /** The same memory as 32-bit cells. */
  cells: Int32Array
  readonly #index: Int32Array
  /** Recently used rows by name: hashing a name takes longer than counting in its row. */
  readonly #known = new Map<string, number>()

  constructor({ words, index }: Pick<LimitMemory, 'words' | 'index'>) {
    this.#buffer = words
    this.words = wordsOf(words)
    this.cells = cellsOf(words)
    this.#index = new Int32Array(index)
  }

  /** Call before using an index from another thread: its row may be in memory that was added since. */
  follow(): void {
    if (this.#buffer.byteLength === this.words.byteLength) return
    this.words = wordsOf(this.#buffer)
    this.cells = cellsOf(this.#buffer)
  }

  /** The row of a counter; if missing, a new one with `size` zeroed words. Null: no memory is left. */
  make(counter: string, size: number): number | null {
    return this.#search(counter, size)
  }

  /** The same for one end user. Beyond the bounds, all further users of a limit share one row. */
  makeForUser(counter: string, user: string, size: number): NamedRow | null {
    const known = this.#findOwn(counter, user)
    if (known !== null) return known
    const users = this.make(usersCounter(counter), 1)
    if (users === null) return null
    const isOver = (place: number, most: number) => Atomics.add(this.words, place, 1n) >= BigInt(most)
    const others = isOver(users + rowHead, mostUsers) || isOver(userRows, mostUserRows)
    const name = others ? othersCounter(counter) : userCounter(counter, user)
    const row = this.make(name, size)
    return row === null ? null : { counter: name, row }
  }

  /** The row that counts an end user; null: nothing has been counted there. */
  findForUser(counter: string, user: string): number | null {
    return this.#findOwn(counter, user)?.row ?? this.find(othersCounter(counter))
  }

  #findOwn(counter: string, user: string): NamedRow | null {
    const name = userCounter(counter, user)
    const row = this.find(name)
    return row === null ? null : { counter: name, row }
  }

  /** Null: nothing has been counted there. */
  find(counter: string): number | null {
    return this.#search(counter, null)
  }

  /** Earlier spending has been loaded. */
  get seeded(): boolean {
    return Atomics.load(this.words, open) === 1n
  }

  seed(): void {
    Atomics.store(this.words, open, 1n)
  }

  /** In a cluster: milliseconds by which its clock is ahead of this machine's. */
  get clockAhead(): number {
    return Number(Atomics.load(this.words, clock))
  }

  set clockAhead(ms: number) {
    Atomics.store(this.words, clock, BigInt(Math.round(ms)))
  }

  /** The clock was set, so that a row may have gone on to a later period than that of now. */
  get setBack(): boolean {
    return Atomics.load(this.words, setBack) === 1n
  }

  noteSetBack(): void {
    Atomics.store(this.words, setBack, 1n)
  }

  /** Of a cluster: nobody is there who could give this node more, so that nobody waits for it. */
  get cutOff(): boolean {
    return Atomics.load(this.words, cutOff) === 1n
  }

  set cutOff(isCutOff: boolean) {
    Atomics.store(this.words, cutOff, isCutOff ? 1n : 0n)
  }

  #search(counter: string, size: number | null): number | null {
    const known = this.#known.get(counter)
    if (known !== undefined) return known
    const row = this.#lookUp(counter, size)
    if (row === null) return null
    if (this.#known.size === mostKnown) this.#known.clear()
    this.#known.set(counter, row)
    return row
  }

  #lookUp(counter: string, size: number | null): number | null {
    const digest = hash('sha256', counter, 'buffer')
    const [one, other] = [digest.readBigInt64LE(0), digest.readBigInt64LE(8)]
    let own: number | null = null
    for (let step = 0; step < indexSize; step++) {
      const place = (digest.readUInt32LE(16) + step) % indexSize
      let found = Atomics.load(this.#index, place)
      if (found === 0) {
        if (size === null) return null
        own ??= this.#allocate(size, one, other)
        if (own === null) return null
        found = Atomics.compareExchange(this.#index, place, 0, own)
        // Another thread was first, with another name or the same one; in the latter case this row stays unused.
        if (found === 0) return own
      }
      this.follow()
      if (Atomics.load(this.words, found) === one && Atomics.load(this.words, found + 1) === other) return found
    }
    return null
  }

  #allocate(size: number, one: bigint, other: bigint): number | null {
    if (Atomics.add(this.words, rows, 1n) >= mostRows) return null
    const whole = size + rowHead
    const row = Number(Atomics.add(this.words, next, BigInt(whole)))
    if (row + whole > mostWords) return null
    if (!this.#grow(row + whole)) return null
    this.follow()
    Atomics.store(this.words, row, one)
    Atomics.store(this.words, row + 1, other)
    return row
  }

  #grow(wanted: number): boolean {
    const bytes = wanted * bytesPerWord
    while (this.#buffer.byteLength < bytes) {
      const larger = Math.min(Math.max(this.#buffer.byteLength * 2, bytes), mostWords * bytesPerWord)
      try {
        this.#buffer.grow(larger)
      } catch {
        // Another thread has grown it further in the meantime; otherwise the system has no memory.
        if (this.#buffer.byteLength < bytes) return false
      }
    }
    return true
  }
}
