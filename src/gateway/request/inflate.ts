import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { Pieces } from '../../core/bytes/pieces.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { outOfMemory } from './memory-budget.ts'

const encodings = new Map<string, () => Transform>([
  ['gzip', () => zlib.createGunzip({ chunkSize })],
  ['x-gzip', () => zlib.createGunzip({ chunkSize })],
  ['deflate', () => zlib.createInflate({ chunkSize })],
  ['br', () => zlib.createBrotliDecompress({ chunkSize })],
  ['zstd', () => zlib.createZstdDecompress({ chunkSize })],
])
const chunkSize = 64 * 1024

/** Text compresses about ten to one; a body built to exhaust memory, a thousand to one. */
const mostTimes = 200
const harmlessBytes = 1024 * 1024

/** A stream that decompresses this encoding; null if the encoding is unknown. */
export function openInflate(encoding: string): Transform | null {
  return encodings.get(encoding)?.() ?? null
}

/** The most bytes that a compressed body of this size may inflate to. */
export function ratioBound(bytes: number): number {
  return Math.max(harmlessBytes, bytes * mostTimes)
}

/** Why a body in this encoding is rejected; null if it is accepted. */
export function checkEncoding(encoding: string): Fault | null {
  return encodings.has(encoding) ? null : unknownEncoding(encoding)
}

function unknownEncoding(encoding: string): Fault {
  const known = 'gzip, deflate, br or zstd'
  return fault(
    'invalid_request',
    `A body in content-encoding ${encoding} is not accepted; send ${known}, or uncompressed.`,
  )
}

/**
 * The decompressed body; null if it is larger than `limit`. Bytes are counted while they are produced, and `covers` says whether the memory
 * budget has room for that many.
 */
export function inflate(
  body: Buffer,
  encoding: string,
  limit: number,
  covers: (bytes: number) => boolean,
): Promise<Buffer | Fault | null> {
  const stream = openInflate(encoding)
  if (stream === null) return Promise.resolve(unknownEncoding(encoding))
  const most = ratioBound(body.length)
  const bomb = `The body is compressed more than ${mostTimes} to one; send it uncompressed.`
  return new Promise((resolve) => {
    const pieces = new Pieces()
    const finish = (result: Buffer | Fault | null) => {
      stream.destroy()
      resolve(result)
    }
    stream.on('data', (chunk: Buffer) => {
      pieces.add(chunk)
      if (pieces.size > limit) finish(null)
      else if (pieces.size > most) finish(fault('invalid_request', bomb))
      else if (!covers(pieces.size)) finish(outOfMemory())
    })
    stream.on('end', () => finish(pieces.join()))
    stream.on('error', () =>
      finish(fault('invalid_request', `The body is not valid ${encoding}, as its content-encoding says.`)),
    )
    stream.end(body)
  })
}
