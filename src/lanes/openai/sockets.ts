import { errorTable, type Fault, fault } from '../../core/errors.ts'
import { asObject, asText, isCount, parseObject } from '../../core/json/json-value.ts'
import type { ObjectType } from '../../core/objects/stored-object.ts'
import { quote } from '../../core/text/quote.ts'
import { foldName } from '../../core/watched-names.ts'
import type { EndpointSocket, Inspection, IssuedCredentials, Match } from '../contract.ts'
import { forwardedQuery } from '../query.ts'
import { emptyInspection, isFault } from '../request-body.ts'
import { renderError } from './errors.ts'
import { askResponse, askSession, readSession } from './socket-frames.ts'
import { OpenaiSocketReader } from './socket-reader.ts'

/** `create`: the call whose body a `response.create` frame contains. */
export function responsesSocket(create: Match): EndpointSocket {
  return {
    handshake,
    upstreamPath: socketPath,
    ask: (frame) => askResponse(frame, create),
    reader: () => new OpenaiSocketReader(true),
    isHttpInFrames: true,
    // The `error` event has a status on Responses, and an id on Realtime and Live.
    errorFrame: (reason, _requestId, streamId = '') => {
      const event = { type: 'error', status: errorTable[reason.code].status, error: renderedError(reason) }
      return eventOf(streamId === '' ? event : { ...event, stream_id: streamId })
    },
  }
}

/**
 * `create`: the call whose rules for references apply to frames. `own`: types of objects that live within one
 * connection.
 */
export function sessionSocket(create: Match, own: readonly ObjectType[]): EndpointSocket {
  return {
    handshake,
    upstreamPath: socketPath,
    ask: (frame) => askSession(frame, create, own),
    reader: () => new OpenaiSocketReader(false),
    errorFrame: (reason, requestId) =>
      eventOf({ type: 'error', event_id: `event_${requestId}`, error: renderedError(reason) }),
  }
}

function eventOf(event: object): Buffer {
  return Buffer.from(JSON.stringify(event))
}

function renderedError(reason: Fault): unknown {
  return parseObject(renderError(reason).body)?.error
}

function handshake({ endpoint }: Match, query: string, tokenModel: string | null): Inspection | Fault {
  const parameters = new URLSearchParams(query)
  const odd = endpoint.model === 'query' ? [...parameters.keys()].find(isOddName) : undefined
  if (odd !== undefined)
    return fault('invalid_request', `Name the model as \`?model=NAME\`, and not by ${quote(odd)}.`, { param: 'model' })
  const names = new Set(endpoint.model === 'query' ? parameters.getAll('model') : [])
  const [asked = null] = names
  const model = asked ?? (endpoint.model === 'query' ? tokenModel : null)
  if (names.size > 1 || asked === '')
    return fault('invalid_request', 'Name the model once, as `?model=NAME`.', { param: 'model' })
  const others = parameters.has('call_id') || parameters.has('intent')
  if (endpoint.model === 'query' && model === null && !others)
    return fault('invalid_request', '`model` is missing; name the model as `?model=NAME`.', { param: 'model' })
  const passed = asked === null ? forwardedQuery(query) : withoutModel(forwardedQuery(query))
  return { ...emptyInspection(model, passed), streamed: true }
}

/** Whether a server could read it as the model, in any letter case. Azure reads `deployment` as the model. */
function isOddName(name: string): boolean {
  // Some servers make one parameter of `model` and `model[]`.
  const [root = ''] = foldName(name).split('[', 1)
  return name !== 'model' && ['model', 'deployment'].includes(root.trim())
}

/** However its name is escaped: a second model would be forwarded beside the one that was checked. */
function withoutModel(query: string): string {
  const kept = query
    .slice(1)
    .split('&')
    .filter((part) => !new URLSearchParams(part).has('model'))
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

/** A body that sets up a session for a client: with the session in it, or in an older form the session itself. */
export function inspectSession(plain: Inspection, body: Buffer): Inspection | Fault {
  const found = readSession(body)
  if (isFault(found)) return found
  const named = { ...plain, model: found.model?.name ?? null, modelSpans: found.model?.spans ?? [] }
  return found.additionalModels.length === 0 ? named : { ...named, additionalModels: found.additionalModels }
}

/** The path of a handshake, with the provider's name of the model. */
function socketPath({ endpoint, path }: Match, { query, model }: Inspection, upstreamModel: string): string {
  if (endpoint.model !== 'query' || model === null) return path + query
  return `${path}?model=${encodeURIComponent(upstreamModel)}${query === '' ? '' : `&${query.slice(1)}`}`
}

/** Source: the answer types of the vendor's SDK, old and new. */
export function readClientSecret(body: Buffer): IssuedCredentials | null {
  const answer = parseObject(body)
  if (answer === null) return null
  const holders = [answer, asObject(answer.client_secret), asObject(asObject(answer.session)?.client_secret)]
  const secrets = holders.flatMap((holder) => asText(holder?.value) ?? [])
  const [seconds] = holders.map((holder) => holder?.expires_at).filter(isCount)
  return secrets.length === 0 ? null : { secrets, expiresAt: seconds === undefined ? null : seconds * 1000 }
}
