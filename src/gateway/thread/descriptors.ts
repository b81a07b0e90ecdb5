import { readFileSync, readSync, writeSync } from 'node:fs'
import type { Socket } from 'node:net'

/** The limit may change while the process runs (`prlimit`). */
const lookEveryMs = 1000
const smallestReserve = 32
const largestReserve = 256
/** Heads that one address may leave unfinished on one thread, at most. */
const mostHalfOpen = 256
const fewestHalfOpen = 8
/** So long what was seen says how many are in use: a burst of requests opens its connections to providers within one turn. */
const freshMs = 1000

/**
 * The process's file descriptors. The last of them are kept: for answering clients that nothing else can be done for, for the journal,
 * and for operators. The system gives out the lowest number that is free, so that a number of a socket says how many are in use.
 */
export class Descriptors {
  #limit = Number.POSITIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  /** The last number that this thread was given, and when. */
  #seen = 0
  #seenAt = Number.NEGATIVE_INFINITY
  #opening = 0

  /** Whether it took one of the last, which are kept. False where that cannot be told. */
  isScarce(socket: Socket): boolean {
    const number = this.#look(socket)
    return number !== null && number >= this.#currentLimit - reserveOf(this.#currentLimit)
  }

  /** Before a connection to a provider is opened: false where that would take one of the last. Else `opened` follows. */
  open(): boolean {
    const limit = this.#currentLimit
    const isFresh = performance.now() - this.#seenAt < freshMs
    if (isFresh && this.#seen + this.#opening >= limit - reserveOf(limit)) return false
    this.#opening++
    return true
  }

  /** It has been opened, or could not be. */
  opened(): void {
    this.#opening--
  }

  /** Answers at once, within the turn that accepted the connection, where half of the reserve is gone. `plain`: no TLS comes first. */
  refuseLast(socket: Socket, plain: boolean): boolean {
    const number = this.#look(socket)
    const limit = this.#currentLimit
    if (number === null || number < limit - reserveOf(limit) / 2) return false
    // With bytes unread the connection would be reset. None of them may have come yet, or its client may be gone.
    if (plain) {
      attempt(() => readSync(number, scratch))
      attempt(() => writeSync(number, lastAnswer))
    }
    socket.destroy()
    return true
  }

  #look(socket: Socket): number | null {
    const number = numberOf(socket)
    if (number !== null) {
      this.#seen = number
      this.#seenAt = performance.now()
    }
    return number
  }

  /** Connections of one address whose request has not come whole. */
  get mostHalfOpen(): number {
    return Math.min(mostHalfOpen, Math.max(fewestHalfOpen, Math.floor(this.#currentLimit / 16)))
  }

  get #currentLimit(): number {
    const now = performance.now()
    if (now - this.#lookedAt > lookEveryMs) {
      this.#lookedAt = now
      this.#limit = readDescriptorLimit() ?? this.#limit
    }
    return this.#limit
  }
}

const scratch = Buffer.alloc(64 * 1024)
const lastBody = JSON.stringify({
  error: {
    message: 'The gateway has too many connections open. Wait, then try again.',
    type: 'server_error',
    code: 'overloaded',
  },
})
/** Before anything of the request is read: in the shape that every SDK family reads, without an id. */
const lastAnswer = [
  'HTTP/1.1 503 Service Unavailable',
  'content-type: application/json',
  'x-sp-error: overloaded',
  'x-sp-error-origin: gateway',
  'retry-after: 1',
  `content-length: ${Buffer.byteLength(lastBody)}`,
  'connection: close',
  '',
  lastBody,
].join('\r\n')

function attempt(act: () => void): void {
  try {
    act()
  } catch {
    // Nothing else can be done for it.
  }
}

function reserveOf(limit: number): number {
  return Math.min(largestReserve, Math.max(smallestReserve, Math.floor(limit / 8)))
}

/** Of the process; null: nobody knows. */
export function readDescriptorLimit(): number | null {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return line === undefined ? Number.POSITIVE_INFINITY : Number(line)
  } catch {
    // Not on Linux, or none is left to read it with.
    return null
  }
}

function numberOf(socket: Socket): number | null {
  const handle: unknown = Reflect.get(socket, '_handle')
  const number: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : null
  return typeof number === 'number' && number >= 0 ? number : null
}
