import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { type Fault, fault } from '../core/errors.ts'

const encodings: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip),
  'x-gzip': promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip),
  deflate: promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.inflate),
  br: promisify<Buffer, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress),
  zstd: promisify<Buffer, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress),
}

/** Texts come to a tenth of their size; what was made to harm, to a thousandth. */
const mostTimes = 200
const harmlessBytes = 1024 * 1024

/** Why a body in this encoding is not read; null when it is. */
export function refuseEncoding(encoding: string): Fault | null {
  if (Object.hasOwn(encodings, encoding)) return null
  const known = 'gzip, deflate, br or zstd'
  return fault(
    'invalid_request',
    `A body in content-encoding ${encoding} is not accepted; send ${known}, or uncompressed.`,
  )
}

/** The body as it was before; null where that is more than `limit` bytes, which are counted while they are made. */
export async function inflate(body: Buffer, encoding: string, limit: number): Promise<Buffer | Fault | null> {
  const most = Math.max(harmlessBytes, body.length * mostTimes)
  try {
    return await encodings[encoding]!(body, { maxOutputLength: Math.min(limit, most) })
  } catch (error) {
    const tooLong = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    if (!tooLong) return fault('invalid_request', `The body is not valid ${encoding}, as its content-encoding says.`)
    if (limit <= most) return null
    return fault('invalid_request', `The body is compressed more than ${mostTimes} to one; send it uncompressed.`)
  }
}
