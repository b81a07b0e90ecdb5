import { type Fault, fault } from '../core/errors.ts'
import { FormScanner, readBoundary } from '../core/form-scan.ts'
import type { FormFields, Inspection } from '../lanes/contract.ts'
import { admitBody, effectivePolicy, maxBody } from '../policy/admit.ts'
import type { TooLarge } from './body.ts'
import type { Exchange } from './exchange.ts'
import type { Gateway } from './gateway.ts'
import type { InputWatch } from './objects/input-watch.ts'
import { Upload, type UploadOptions } from './upload.ts'

/**
 * Makes the upload of a body that goes up as a stream, and holds it until what must be known of it is. The inspection of what was
 * found; null when the exchange was stopped meanwhile.
 */
export async function receiveUpload(
  gateway: Gateway,
  exchange: Exchange,
  form: 'multipart' | 'bytes',
): Promise<Inspection | Fault | null> {
  const fields: FormFields =
    form === 'bytes' ? { needed: [], early: [], read: [] } : exchange.match!.endpoint.formFields
  const scanner = openScanner(exchange, fields)
  if (scanner !== null && 'code' in scanner) return scanner
  const { policies } = gateway.model.configuration
  const limit = maxBody(effectivePolicy(policies, exchange.key!), gateway.settings.uploadLimit)
  const declared = declaredLength(exchange)
  if (declared !== null && declared > limit) return refuseSize(gateway, exchange, { tooLarge: declared })
  const watch = exchange.match!.endpoint.holdsBatchInput === undefined ? null : await watchInput(gateway, exchange)
  if (exchange.stopped) return null
  const upload = openUpload(gateway, exchange, { fields, scanner, watch, limit, declared })
  exchange.upload = upload
  exchange.whenGone(() => upload.close())
  await upload.hold()
  exchange.whenGone(null)
  if (exchange.stopped) return null
  return exchange.match!.endpoint.inspectForm(exchange.match!, exchange.query, upload.fields)
}

async function watchInput(gateway: Gateway, exchange: Exchange): Promise<InputWatch | null> {
  const { openInputWatch } = await import('./objects/open-input-watch.ts')
  exchange.input = await openInputWatch(gateway, exchange)
  return exchange.input
}

/** Null where nothing in the body must be known: it passes as it is, whatever it is. */
function openScanner({ request }: Exchange, { needed, early, read }: FormFields): FormScanner | Fault | null {
  if (needed.length === 0 && early.length === 0) return null
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    return fault('invalid_request', `A form in content-encoding ${encoding} is not accepted; send it uncompressed.`)
  const boundary = readBoundary(request.headers['content-type'] ?? '')
  if (boundary !== null) return new FormScanner(boundary, [...needed, ...early, ...read])
  return fault(
    'invalid_request',
    'This call takes a form: content-type must be multipart/form-data and name its boundary.',
  )
}

/** Null where the body comes in chunks. */
function declaredLength({ request: { headers } }: Exchange): number | null {
  if (headers['transfer-encoding'] !== undefined) return null
  return Number(headers['content-length'] ?? 0)
}

type Known = Pick<UploadOptions, 'fields' | 'scanner' | 'watch' | 'limit' | 'declared'>

function openUpload(gateway: Gateway, exchange: Exchange, known: Known): Upload {
  const { settings, deadlines, chunks } = gateway
  return new Upload(
    {
      ...known,
      request: exchange.request,
      deadlines,
      chunks,
      betweenChunksMs: settings.timeouts.betweenChunks,
      heldLimit: Math.min(known.limit, settings.bodyLimit),
    },
    {
      refuse: (reason) => exchange.stop('code' in reason ? reason : refuseSize(gateway, exchange, reason)),
      gone: () => {
        exchange.gone = true
        exchange.tellGone()
      },
      complete: () => (exchange.complete = performance.now()),
      holds: (bytes) => gateway.room.cover(exchange, bytes),
      letGo: () => gateway.room.release(exchange),
    },
  )
}

function refuseSize({ model, settings }: Gateway, exchange: Exchange, { tooLarge }: TooLarge): Fault {
  const policy = effectivePolicy(model.configuration.policies, exchange.key!)
  const verdict = admitBody(tooLarge, policy, settings.uploadLimit)
  exchange.policySignals.push(...verdict.signals)
  return verdict.fault ?? fault('request_too_large')
}
