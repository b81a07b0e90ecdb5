import { FormScanner, readBoundary } from '../../core/bytes/form-scan.ts'
import { type Fault, fault } from '../../core/errors.ts'
import type { FormFields, Inspection } from '../../lanes/contract.ts'
import { admitBody, type EffectivePolicy, maxBody } from '../../policy/admit.ts'
import { ObjectNotes } from '../objects/object-notes.ts'
import type { Arrival } from '../request/arrival.ts'
import { contentEncoding, type TooLarge } from '../request/body.ts'
import type { RequestCaller } from '../request/call.ts'
import { Upload, type UploadOptions } from './upload.ts'

const noFields: FormFields = { needed: [], early: [], read: [] }

/**
 * Opens the upload of a body that is streamed up, and holds it until the required form fields are known. Returns the inspection of those;
 * null: the request was aborted.
 */
export async function receiveUpload(
  arrival: Arrival,
  caller: RequestCaller,
  form: 'multipart' | 'bytes',
): Promise<Inspection | Fault | null> {
  const { gateway, abort, body } = arrival
  const { match, policy, query } = caller
  const fields = form === 'bytes' ? noFields : match.endpoint.formFields
  const scanner = openScanner(arrival, fields)
  if (scanner !== null && 'code' in scanner) return scanner
  const limit = maxBody(policy, gateway.settings.uploadLimit)
  const declared = declaredLength(arrival)
  if (declared !== null && declared > limit) return tooLargeFault(arrival, policy, { tooLarge: declared })
  if (match.endpoint.holdsBatchInput !== undefined) arrival.objects = await watchInput(arrival, caller)
  if (abort.aborted) return null
  const watch = arrival.objects?.input ?? null
  const upload = openUpload(arrival, policy, {
    fields,
    scanner,
    watch,
    limit,
    declared,
    keepHead: match.endpoint.readUnits !== undefined,
  })
  body.upload = upload
  abort.onAbort(() => upload.close())
  await upload.hold()
  abort.onAbort(null)
  return abort.aborted ? null : match.endpoint.inspectForm(match, query, upload.fields)
}

async function watchInput(arrival: Arrival, caller: RequestCaller): Promise<ObjectNotes> {
  const { openInputWatch } = await import('../objects/open-input-watch.ts')
  return new ObjectNotes(await openInputWatch(arrival, caller))
}

/** Null: no form field has to be known, so the body passes unread. */
function openScanner({ request }: Arrival, { needed, early, read }: FormFields): FormScanner | Fault | null {
  if (needed.length === 0 && early.length === 0) return null
  const encoding = contentEncoding(request)
  if (encoding !== null)
    return fault('invalid_request', `A form in content-encoding ${encoding} is not accepted; send it uncompressed.`)
  const boundary = readBoundary(request.headers['content-type'] ?? '')
  if (boundary !== null) return new FormScanner(boundary, [...needed, ...early, ...read])
  return fault(
    'invalid_request',
    'This call takes a form: content-type must be multipart/form-data and name its boundary.',
  )
}

/** Null if the body comes in chunks. */
function declaredLength({ request: { headers } }: Arrival): number | null {
  if (headers['transfer-encoding'] !== undefined) return null
  return Number(headers['content-length'] ?? 0)
}

type KnownUpload = Pick<UploadOptions, 'fields' | 'scanner' | 'watch' | 'limit' | 'declared' | 'keepHead'>

function openUpload(arrival: Arrival, policy: EffectivePolicy, known: KnownUpload): Upload {
  const { gateway, abort, body } = arrival
  const { settings, deadlines, gcPacer, memoryBudget } = gateway
  return new Upload(
    {
      ...known,
      request: arrival.request,
      deadlines,
      gcPacer,
      betweenChunksMs: settings.timeouts.betweenChunks,
      heldLimit: Math.min(known.limit, settings.bodyLimit),
    },
    {
      received: (bytes) => (arrival.trace.requestBytes = bytes),
      reject: (reason) => abort.abort('code' in reason ? reason : tooLargeFault(arrival, policy, reason)),
      disconnected: () => abort.disconnect(),
      complete: () => (arrival.completeAt = performance.now()),
      reserve: (bytes) => memoryBudget.reserve(body, bytes),
      release: () => memoryBudget.release(body),
    },
  )
}

function tooLargeFault({ gateway, trace }: Arrival, policy: EffectivePolicy, { tooLarge }: TooLarge): Fault {
  const verdict = admitBody(tooLarge, policy, gateway.settings.uploadLimit)
  trace.policySignals.push(...verdict.signals)
  return verdict.fault ?? fault('request_too_large')
}
