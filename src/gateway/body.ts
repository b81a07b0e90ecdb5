import type { IncomingMessage } from 'node:http'
import { type Fault, fault } from '../core/errors.ts'
import { formatSize } from '../core/units.ts'
import { Deadline, type Deadlines } from './deadlines.ts'

export interface BodyLimits {
  bytes: number
  /** Silence allowed between two chunks. */
  betweenChunksMs: number
}

/** The whole body, as long as it stays within the limits; null when the client hung up while sending. */
export function readBody(request: IncomingMessage, limits: BodyLimits, deadlines: Deadlines): Promise<Buffer | Fault | null> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limits.bytes) return Promise.resolve(tooLarge(limits.bytes))
  if (declared === 0 && request.headers['transfer-encoding'] === undefined) return Promise.resolve(Buffer.alloc(0))
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    return Promise.resolve(fault('invalid_request', `A body in content-encoding ${encoding} is not accepted; send it uncompressed.`))
  }
  return collect(request, limits, deadlines)
}

function collect(request: IncomingMessage, limits: BodyLimits, deadlines: Deadlines): Promise<Buffer | Fault | null> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const silence = new Deadline(() => finish(fault('invalid_request', 'The body stopped arriving; send it again.')))
    const finish = (result: Buffer | Fault | null) => {
      deadlines.remove(silence)
      request.off('data', take).off('end', end).off('close', close).off('error', close)
      resolve(result)
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      silence.at = performance.now() + limits.betweenChunksMs
      if (size > limits.bytes) return finish(tooLarge(limits.bytes))
      chunks.push(chunk)
    }
    const end = () => finish(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))
    const close = () => finish(null)
    silence.at = performance.now() + limits.betweenChunksMs
    deadlines.add(silence)
    request.on('data', take).on('end', end).on('close', close).on('error', close)
  })
}

function tooLarge(limit: number): Fault {
  return fault('request_too_large', `The body is larger than the ${formatSize(limit)} that are allowed here. Send a smaller one.`)
}
