import type { IncomingMessage } from 'node:http'
import { type Fault, fault } from '../../core/errors.ts'
import { Pieces } from '../../core/pieces.ts'
import { Deadline, type Deadlines } from '../thread/deadlines.ts'
import { BodyLease, type BodyMemory, smallestBody } from './body-memory.ts'
import { freeBytes, type MemoryBudget, type MemoryHolder, outOfMemory } from './memory-budget.ts'

export interface BodyLimits {
  bytes: number
  /** Silence allowed between two chunks. */
  betweenChunksMs: number
  /** From the first byte to the last. */
  totalMs: number
}

/** Of the gateway. */
export interface BodyParts {
  deadlines: Deadlines
  budget: MemoryBudget
  memory: BodyMemory
}

/** Whose body it is. */
export interface BodyHolder extends MemoryHolder {
  /** Where the body lies, if that memory is used again. */
  lease: BodyLease | null
}

/** A body beyond the limit: as many bytes as were announced or counted when it was given up. */
export interface TooLarge {
  tooLarge: number
}

export type BodyOutcome = Buffer | Fault | TooLarge | null

/**
 * The whole body, as long as it stays within the limits and the memory budget; null when the client disconnected while sending.
 */
export function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  parts: BodyParts,
  holder: BodyHolder,
): Promise<BodyOutcome> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limits.bytes) return Promise.resolve({ tooLarge: declared })
  if (declared === 0 && request.headers['transfer-encoding'] === undefined) return Promise.resolve(Buffer.alloc(0))
  if (declared > freeBytes && !parts.budget.has(declared)) return Promise.resolve(outOfMemory())
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return readInflated(request, encoding, limits, parts, holder)
  if (declared >= smallestBody) holder.lease = parts.memory.lease(declared)
  return collect(request, limits, parts, holder)
}

async function readInflated(
  request: IncomingMessage,
  encoding: string,
  limits: BodyLimits,
  parts: BodyParts,
  holder: BodyHolder,
): Promise<BodyOutcome> {
  const { inflate, rejectEncoding } = await import('./inflate.ts')
  const coding = encoding.trim().toLowerCase()
  const refused = rejectEncoding(coding)
  if (refused !== null) return refused
  const body = await collect(request, limits, parts, holder)
  if (!Buffer.isBuffer(body)) return body
  const covers = (bytes: number) => parts.budget.reserve(holder, body.length + bytes)
  return (await inflate(body, coding, limits.bytes, covers)) ?? { tooLarge: limits.bytes + 1 }
}

function collect(
  request: IncomingMessage,
  limits: BodyLimits,
  { deadlines, budget }: BodyParts,
  holder: BodyHolder,
): Promise<BodyOutcome> {
  return new Promise((resolve) => {
    const pieces = holder.lease ?? new Pieces()
    const silence = new Deadline(() =>
      finish(fault('invalid_request', 'The body did not arrive in time; send it again.')),
    )
    const endsAt = performance.now() + limits.totalMs
    const rearm = () => (silence.at = Math.min(endsAt, performance.now() + limits.betweenChunksMs))
    const finish = (result: BodyOutcome) => {
      request.off('data', take).off('end', end).off('close', close)
      deadlines.remove(silence)
      resolve(result)
    }
    const take = (chunk: Buffer) => {
      rearm()
      pieces.add(chunk)
      if (pieces instanceof BodyLease) freeChunk(chunk)
      if (pieces.size > limits.bytes) finish({ tooLarge: pieces.size })
      else if (pieces.size > freeBytes && !budget.reserve(holder, pieces.size)) finish(outOfMemory())
    }
    const end = () => finish(joinAndFree(pieces))
    // Without a listener for `error`, Node emits none.
    const close = () => finish(null)
    deadlines.add(silence)
    rearm()
    request.on('data', take).on('end', end).on('close', close)
  })
}

/** What came of the body, and its chunks freed. */
function joinAndFree(pieces: Pieces | BodyLease): Buffer {
  const body = pieces.join()
  if (pieces instanceof Pieces && pieces.list().length > 1) for (const chunk of pieces.list()) freeChunk(chunk)
  return body
}

/**
 * Chunks lie outside of V8's heap, which counts them as its growth until it has looked for them: freed at once, it looks half as
 * often. Node's parser makes each for whoever reads the body, and that is nobody but this.
 */
function freeChunk({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** What is still taken in of a body that nobody will read, and for how long. */
const discardedBytes = 512 * 1024 * 1024
const discardMs = 30_000

/**
 * Takes in the rest of a refused request's body, bounded, so that the client gets to read the refusal: a connection
 * closed under a sender is reset, and the answer with it.
 */
export function discardBody(request: IncomingMessage, deadlines: Deadlines): void {
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
