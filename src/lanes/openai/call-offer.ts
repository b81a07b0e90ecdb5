import { FormScanner, readBoundary } from '../../core/bytes/form-scan.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { type Span, scanObject } from '../../core/json/json-scan.ts'
import type { Inspection, WholeBodyContext } from '../contract.ts'
import { isFault } from '../request-body.ts'
import { readModels } from './socket-frames.ts'

const known = ['sdp', 'session']
const lineEnd = '\r\n'

/**
 * Reads a WebRTC offer: SDP alone, or a form with it and the session, which names the model. If neither names one, the
 * model of the client's token counts. Source: the vendor's reference of `POST /realtime/calls`.
 */
export function inspectOffer(
  plain: Inspection,
  body: Buffer,
  { contentType, tokenModel }: WholeBodyContext,
): Inspection | Fault {
  if (new URLSearchParams(plain.query).has('model'))
    return wrong('Name the model in the field `session` of a form, not in the query.', 'model')
  const session = findSession(body, contentType)
  if (session !== null && isFault(session)) return session
  const named = session === null ? null : readModels(body, [session])
  if (named !== null && isFault(named)) return named
  const model = named?.model?.name ?? tokenModel
  if (model === null)
    return wrong(
      '`session.model` is missing; send a form with `sdp` and `session`, and the model in it.',
      'session.model',
    )
  const additionalModels = named?.additionalModels ?? []
  const found = { ...plain, model, modelSpans: named?.model?.spans ?? [] }
  return additionalModels.length === 0 ? found : { ...found, additionalModels }
}

/** Null: the SDP alone. */
function findSession(body: Buffer, contentType: string): Span | Fault | null {
  if (/^\s*application\/sdp\s*(?:;|$)/i.test(contentType)) return null
  const boundary = readBoundary(contentType)
  if (boundary === null)
    return wrong('Send SDP as application/sdp, or a form (multipart/form-data) of `sdp` and `session`.')
  const parts = readParts(body, boundary)
  if ('code' in parts) return parts
  const [session, second] = parts.filter(({ name }) => name === 'session')
  if (second !== undefined) return wrong('`session` is given twice; send it once.', 'session')
  if (session === undefined) return null
  return scanObject(body, [], session.span).ok
    ? session.span
    : wrong('The field `session` is not a valid JSON object.', 'session')
}

interface OfferPart {
  name: string
  span: Span
}

/**
 * Reads every part whole, since an offer is small. Only the known fields are accepted: parsers differ in what else they
 * would read into a form.
 */
function readParts(body: Buffer, boundary: string): OfferPart[] | Fault {
  const parts: { name: string; pieces: Buffer[]; encoded: boolean }[] = []
  const scanner = new FormScanner(boundary, [], {
    begin: ({ name, encoded }) => void parts.push({ name, encoded, pieces: [] }),
    bytes: (chunk) => void parts.at(-1)?.pieces.push(Buffer.from(chunk)),
  })
  scanner.push(body)
  scanner.end()
  if (scanner.wrong !== null) return wrong(`The body is not a form as its content-type says: ${scanner.wrong}.`)
  const odd = parts.find(({ name, encoded }) => encoded || !known.includes(name))
  if (odd !== undefined) return wrong('The form may have the fields `sdp` and `session`, unencoded, and no others.')
  let from = 0
  return parts.map(({ name, pieces }) => {
    const content = Buffer.concat(pieces)
    const framed = Buffer.concat([Buffer.from(lineEnd + lineEnd), content, Buffer.from(`${lineEnd}--${boundary}`)])
    const start = body.indexOf(framed, from) + 2 * lineEnd.length
    from = start + content.length
    return { name, span: { start, end: from } }
  })
}

function wrong(message: string, param?: string): Fault {
  return fault('invalid_request', message, param === undefined ? {} : { param })
}
