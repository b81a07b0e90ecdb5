import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { type Fault, fault } from '../../core/errors.ts'
import { Pieces } from '../../core/pieces.ts'
import { outOfMemory } from './memory-budget.ts'

const encodings = new Map<string, () => Transform>([
  ['gzip', () => zlib.createGunzip({ chunkSize })],
  ['x-gzip', () => zlib.createGunzip({ chunkSize })],
  ['deflate', () => zlib.createInflate({ chunkSize })],
  ['br', () => zlib.createBrotliDecompress({ chunkSize })],
  ['zstd', () => zlib.createZstdDecompress({ chunkSize })],
])
const chunkSize = 64 * 1024

/** Texts come to a tenth of their size; what was made to harm, to a thousandth. */
const mostTimes = 200
const harmlessBytes = 1024 * 1024

/** Undoes the encoding; null where nobody knows it. */
export function openInflate(encoding: string): Transform | null {
  return encodings.get(encoding)?.() ?? null
}

/** The most that so many bytes may become. */
export function ratioBound(bytes: number): number {
  return Math.max(harmlessBytes, bytes * mostTimes)
}

/** Why a body in this encoding is not read; null when it is. */
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
 * The body as it was before; null where that is more than `limit` bytes. They are counted while they are made: `covers` says whether
 * there is room for so many.
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
