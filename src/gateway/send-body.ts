import type { OutboundRequest } from '../providers/contract.ts'
import type { Failure, Sent } from '../routing/attempt.ts'
import type { Call } from './call.ts'
import type { Exchange } from './exchange.ts'
import type { Answer } from './judge.ts'
import type { UploadChange } from './upload.ts'

/** What an upload's attempt sends; adds to `headers` what the body needs on the way. The call hears how it goes. */
export function sendUpload(
  exchange: Exchange,
  call: Call,
  renameTo: string | null,
  stallMs: number,
  headers: string[],
): OutboundRequest['body'] {
  const upload = exchange.upload!
  const [span] = exchange.inspection!.modelSpans
  const change: UploadChange | null = renameTo === null || span === undefined ? null : { ...span, text: renameTo }
  const encoding = exchange.header('content-encoding')
  if (encoding !== null) headers.push('content-encoding', encoding)
  const length = upload.length(change)
  // Nothing comes: no stream is needed to say so.
  if (length === 0) {
    call.bodySent()
    return Buffer.alloc(0)
  }
  if (length !== null) headers.push('content-length', String(length))
  return upload.open(change, { stallMs, sent: () => call.bodySent(), stalled: () => call.bodyStalled() })
}

/** A body that has gone up and is not kept cannot be sent again, to nobody: what failed is the outcome. */
export function endAttempts(exchange: Exchange, failure: Failure<Answer>): Sent<Answer> {
  exchange.routingSignals.push({
    rule: 'upload',
    verdict: 'note',
    text: 'The body had gone up by then and was not kept, so nothing else was tried.',
  })
  return { kind: 'failed', failure: { ...failure, next: 'target', fallback: false } }
}
