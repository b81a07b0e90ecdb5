import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { freeChunk, Pieces } from '../../core/bytes/pieces.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { slicedBytes } from '../../core/json/known-spans.ts'
import { loadOnce } from '../../core/threads/load-once.ts'
import { inSlices } from '../../core/threads/slices.ts'
import { Deadline, type Deadlines } from '../thread/deadlines.ts'
import { type BodyLease, type BodyMemory, smallestBody } from './body-memory.ts'
import { freeBytes, type MemoryBudget, type MemoryHolder, outOfMemory } from './memory-budget.ts'

const inflating = loadOnce(() => import('./inflate.ts'))

export interface BodyLimits {
  bytes: number
  /** Silence allowed between two chunks. */
  betweenChunksMs: number
  /** From the first byte to the last. */
  totalMs: number
}

/** The request whose body is read: an `Arrival`. */
interface BodyOwner {
  request: IncomingMessage
  abort: { readonly aborted: boolean; onAbort(act: (() => void) | null): void }
  body: MemoryHolder & { lease: BodyLease | null }
  /** The record of a request whose body breaks off says how much of it arrived. */
  trace: { requestBytes: number }
  gateway: { deadlines: Deadlines; memoryBudget: MemoryBudget; bodyMemory: BodyMemory }
}

/** A body beyond the limit, with the bytes that were announced, or received when reading stopped. */
export interface TooLarge {
  tooLarge: number
}

export type BodyOutcome = Buffer | Fault | TooLarge | null

/**
 * Reads the whole body, within the limits and the memory budget. Null: the client disconnected, or the gateway ended the request, before
 * the body was complete.
 */
export function readBody(owner: BodyOwner, limits: BodyLimits): Promise<BodyOutcome> {
  const { request, gateway, body } = owner
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limits.bytes) return Promise.resolve({ tooLarge: declared })
  if (declared === 0 && request.headers['transfer-encoding'] === undefined) return Promise.resolve(Buffer.alloc(0))
  if (declared > freeBytes && !gateway.memoryBudget.hasRoomFor(declared)) return Promise.resolve(outOfMemory())
  const encoding = contentEncoding(request)
  if (encoding !== null) return readInflated(owner, encoding, limits)
  if (declared >= smallestBody) body.lease = gateway.bodyMemory.lease(declared)
  return collect(owner, limits)
}

/** The body's compression, in lower case; null: none. */
export function contentEncoding({ headers }: IncomingMessage): string | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase()
  return encoding === undefined || encoding === 'identity' ? null : encoding
}

async function readInflated(owner: BodyOwner, encoding: string, limits: BodyLimits): Promise<BodyOutcome> {
  const { inflate, checkEncoding } = await inflating()
  const refused = checkEncoding(encoding)
  if (refused !== null) return refused
  const body = await collect(owner, limits)
  if (!Buffer.isBuffer(body)) return body
  const covers = (bytes: number) => owner.gateway.memoryBudget.reserve(owner.body, body.length + bytes)
  return (await inflate(body, encoding, limits.bytes, covers)) ?? { tooLarge: limits.bytes + 1 }
}

function collect({ request, abort, gateway, body, trace }: BodyOwner, limits: BodyLimits): Promise<BodyOutcome> {
  if (abort.aborted) return Promise.resolve(null)
  const { deadlines, memoryBudget } = gateway
  return new Promise((resolve) => {
    const begun = performance.now()
    const endsAt = begun + limits.totalMs
    // Nearly every body is a single chunk, and is used as it is.
    let first: Buffer | null = null
    let pieces: Pieces | BodyLease | null = body.lease
    const silence = new Deadline(() =>
      finish(fault('invalid_request', 'The body did not arrive in time; send it again.')),
    )
    silence.at = Math.min(endsAt, begun + limits.betweenChunksMs)
    const finish = (result: BodyOutcome | Promise<Buffer>) => {
      request.off('data', take).off('end', end).off('close', stop)
      deadlines.remove(silence)
      if (!Buffer.isBuffer(result)) trace.requestBytes = pieces?.size ?? first?.length ?? 0
      // What never becomes a body goes at once: a hundred that broke off would stay until the next collection of everything.
      if (pieces instanceof Pieces && !isBody(result)) pieces.free()
      resolve(result)
    }
    const take = (chunk: Buffer) => {
      silence.at = Math.min(endsAt, performance.now() + limits.betweenChunksMs)
      if (first === null && pieces === null) first = chunk
      else {
        pieces ??= piecesFrom(first)
        if (pieces.add(chunk)) freeChunk(chunk)
      }
      const size = pieces?.size ?? chunk.length
      if (size > limits.bytes) finish({ tooLarge: size })
      else if (size > freeBytes && !memoryBudget.reserve(body, size)) finish(outOfMemory())
    }
    const end = () => finish(pieces === null ? (first ?? Buffer.alloc(0)) : joinAndFree(pieces))
    const stop = () => finish(null)
    deadlines.add(silence)
    // Stays set until the next step listens; after the end it has no effect.
    abort.onAbort(stop)
    // Without a listener for `error`, Node emits none.
    request.on('data', take).on('end', end).on('close', stop)
  })
}

function isBody(result: BodyOutcome | Promise<Buffer>): boolean {
  return result instanceof Promise || Buffer.isBuffer(result)
}

function piecesFrom(first: Buffer | null): Pieces {
  const pieces = new Pieces(true)
  if (first !== null) pieces.add(first)
  return pieces
}

/** The whole body; its chunks are freed. */
function joinAndFree(pieces: Pieces | BodyLease): Buffer | Promise<Buffer> {
  if (pieces instanceof Pieces && pieces.size >= slicedBytes) return joinInSlices(pieces)
  const body = pieces.join()
  if (pieces instanceof Pieces && pieces.list().length > 1) for (const chunk of pieces.list()) freeChunk(chunk)
  return body
}

async function joinInSlices(pieces: Pieces): Promise<Buffer> {
  const body = Buffer.allocUnsafeSlow(pieces.size)
  let at = 0
  await inSlices(pieces.list(), (chunk) => {
    at += chunk.copy(body, at)
    freeChunk(chunk)
  })
  return body
}

/** How much of a rejected body is still received, in bytes, and for how long. */
const discardedBytes = 512 * 1024 * 1024
const discardMs = 30_000

/** The last on each connection. */
const discarded = new WeakMap<Socket, IncomingMessage>()

/** Whether what comes on a connection is still the body of a rejected request. */
export function isDiscarding(socket: Socket): boolean {
  return discarded.get(socket)?.complete === false
}

/**
 * Receives and drops the rest of a rejected request's body, up to a bound, so that the client can read the answer: to close the connection
 * while the client still sends would reset it, and the answer would be lost.
 */
export function discardBody(request: IncomingMessage, deadlines: Deadlines): void {
  discarded.set(request.socket, request)
  let left = discardedBytes
  const limit = new Deadline(() => request.destroy())
  limit.at = performance.now() + discardMs
  deadlines.add(limit)
  request.once('close', () => deadlines.remove(limit))
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
}
