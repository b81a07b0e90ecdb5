import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** What a provider got of one call; `ended` is false where the body was cut. */
export interface TakenCall {
  url: string
  headers: IncomingHttpHeaders
  bytes: number
  sha256: string
  text: string
  ended: boolean
}

/** Fills `call` as the body comes; `whole` resolves with it at its end, or where it was cut. */
export function takeCall(request: IncomingMessage): { call: TakenCall; whole: Promise<TakenCall> } {
  const call = { url: request.url ?? '', headers: request.headers, bytes: 0, sha256: '', text: '', ended: false }
  return { call, whole: readInto(call, request) }
}

async function readInto(call: TakenCall, request: IncomingMessage): Promise<TakenCall> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      call.bytes += chunk.length
      hash.update(chunk)
      if (call.bytes < 100_000) call.text += chunk.toString('latin1')
    }
    call.ended = true
  } catch {}
  call.sha256 = hash.digest('hex')
  return call
}
