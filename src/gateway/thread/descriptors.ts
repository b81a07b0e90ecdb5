import { readFileSync, readSync, writeSync } from 'node:fs'
import type { Socket } from 'node:net'

/** The limit may change while the process runs (`prlimit`). */
const lookEveryMs = 1000
const smallestReserve = 32
const largestReserve = 256
/** Incomplete heads that one address may have on one thread. */
const mostHalfOpen = 256
const fewestHalfOpen = 8
/** How long an observed number stays valid: a burst of requests opens its connections to providers within one turn. */
const freshMs = 1000

/**
 * The process's file descriptors. The last ones are reserved for answering clients that cannot be served, for the journal, and for
 * operators. The system always assigns the lowest free number, so a socket's number shows how many are in use.
 */
export class Descriptors {
  #limit = Number.POSITIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  /** The last number that this thread got, and when. */
  #seen = 0
  #seenAt = Number.NEGATIVE_INFINITY
  #opening = 0

  /** Whether the socket took one of the reserved descriptors. False if that cannot be told. */
  isScarce(socket: Socket): boolean {
    const number = this.#look(socket)
    return number !== null && number >= this.#currentLimit - reserveOf(this.#currentLimit)
  }

  /** Called before a connection to a provider is opened. False: it would take a reserved descriptor. Otherwise `opened` must follow. */
  open(): boolean {
    const limit = this.#currentLimit
    const isFresh = performance.now() - this.#seenAt < freshMs
    if (isFresh && this.#seen + this.#opening >= limit - reserveOf(limit)) return false
    this.#opening++
    return true
  }

  /** The connection was opened, or failed. */
  opened(): void {
    this.#opening--
  }

  /** Answers in the turn that accepted the connection, if half of the reserve is used up. `plain`: without TLS. */
  refuseLast(socket: Socket, plain: boolean): boolean {
    const number = this.#look(socket)
    const limit = this.#currentLimit
    if (number === null || number < limit - reserveOf(limit) / 2) return false
    // Unread bytes would reset the connection. They may not have arrived yet, or the client may be gone.
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

  /** Connections of one address whose first request is incomplete. */
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
/** Sent before the request is read, so in a form that every SDK family reads, and without an id. */
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

/** The process's limit; null: unknown. */
export function readDescriptorLimit(): number | null {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return line === undefined ? Number.POSITIVE_INFINITY : Number(line)
  } catch {
    // Not on Linux, or no descriptor is left to read it with.
    return null
  }
}

function numberOf(socket: Socket): number | null {
  const handle: unknown = Reflect.get(socket, '_handle')
  const number: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : null
  return typeof number === 'number' && number >= 0 ? number : null
}
