import type { Failure, Sent } from '../../routing/attempt.ts'
import type { Call } from '../request/call.ts'
import type { Answer } from '../upstream/evaluate.ts'
import type { Leg } from '../upstream/leg.ts'
import type { UpstreamCall } from '../upstream/upstream-call.ts'
import type { Upload, UploadChange } from './upload.ts'
import type { UploadBody } from './upload-body.ts'

/** The body that an attempt sends; adds to the leg's headers what the body needs on the way. `upstream` hears how it goes. */
export function openUpload(leg: Leg, upload: Upload, upstream: UpstreamCall): Buffer | UploadBody {
  const { headers } = leg.request
  const change = renameIn(leg)
  const encoding = leg.call.header('content-encoding')
  if (encoding !== null) headers.push('content-encoding', encoding)
  const length = upload.length(change)
  // Nothing comes: no stream is needed to say so.
  if (length === 0) {
    upstream.bodySent()
    return Buffer.alloc(0)
  }
  if (length !== null) headers.push('content-length', String(length))
  return upload.open(change, {
    stallMs: leg.limits.betweenChunks,
    sent: () => upstream.bodySent(),
    stalled: () => upstream.bodyStalled(),
  })
}

function renameIn({ change: { renameTo }, inspection }: Leg): UploadChange | null {
  const [span] = inspection.modelSpans
  return renameTo === null || span === undefined ? null : { ...span, text: renameTo }
}

/** A body that has gone up and is not kept cannot be sent again, to nobody: what failed is the outcome. */
export function stopAttempts({ trace }: Call, failure: Failure<Answer>): Sent<Answer> {
  trace.note('upload', 'The body had gone up by then and was not kept, so nothing else was tried.')
  return { kind: 'failed', failure: { ...failure, next: 'target', fallback: false } }
}
