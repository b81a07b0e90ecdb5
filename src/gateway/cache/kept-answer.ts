import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import type { TokenUsage, UsageDetail } from '../../core/record.ts'
import { type BodyKey, openBody, sealBody } from '../../sealing/body-seal.ts'

/** An answer as a client got it. */
export interface KeptAnswer {
  head: KeptHead
  body: Buffer
}

export interface KeptHead {
  contentType: string
  streamed: boolean
  tokens: TokenUsage | null
  detail: UsageDetail | null
  /** The request that it answered, and when that ended. */
  requestId: string
  /** RFC 3339. */
  time: string
}

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
const lengthBytes = 4
/** The largest answer that is stored. */
const largest = 2 * 1024 * 1024

/** Compressed, and sealed for this cache key, so that it opens under no other. */
export async function sealAnswer(bodyKey: BodyKey, key: string, { head, body }: KeptAnswer): Promise<Buffer> {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(lengthBytes)
  length.writeUInt32LE(text.length)
  return sealBody(bodyKey, placeOf(key), 'answer', await compress(Buffer.concat([length, text, body])))
}

/** Null: it does not open, or has another form. */
export async function openAnswer(bodyKey: BodyKey, key: string, sealed: Uint8Array): Promise<KeptAnswer | null> {
  const packed = openBody(bodyKey, placeOf(key), 'answer', sealed)
  if (packed === null) return null
  try {
    const clear = await decompress(packed, { maxOutputLength: largest })
    const end = lengthBytes + clear.readUInt32LE()
    return { head: JSON.parse(clear.toString('utf8', lengthBytes, end)) as KeptHead, body: clear.subarray(end) }
  } catch {
    return null
  }
}

const placeOf = (key: string) => `cache:${key}`
