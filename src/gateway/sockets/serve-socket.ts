import { errorTable, type Fault, fault } from '../../core/errors.ts'
import { contentSides } from '../../core/policies/content-rules.ts'
import type { EndpointSocket, Inspection } from '../../lanes/contract.ts'
import type { ContentPolicy } from '../../policy/content/compile.ts'
import type { Peer } from '../../providers/socket-peer.ts'
import { relay } from '../answer/relay.ts'
import { reject, rejectWith, settleAborted } from '../answer/respond.ts'
import { clientClosed, settle } from '../answer/settle.ts'
import { skipCapture } from '../capture/capture.ts'
import { noteUnseen } from '../content/note-unseen.ts'
import { checkObjects } from '../objects/check-objects.ts'
import type { Arrival } from '../request/arrival.ts'
import type { Call, RequestCaller } from '../request/call.ts'
import { identify } from '../request/identify.ts'
import { admit, admitSource, checkModelNames } from '../request/receive.ts'
import { headersDown, headersExcept, withoutRateLimits } from '../upstream/headers.ts'
import { Bridge } from './bridge.ts'
import { FramesDown } from './frames-down.ts'
import { FramesUp } from './frames-up.ts'
import { acceptHandshake, checkHandshake, type SocketUpgrade } from './handshake.ts'
import { maxFrame, type OpenedProvider, openProvider, rejectWithoutSocket } from './open-provider.ts'

/**
 * Serves one WebSocket: identify → admit → plan → connect → answer 101 → pass frames → settle. Until the 101 it is rejected like any
 * request. If the first frame names the model, the client gets its 101 before there is a provider, and later failures are sent by means of
 * the protocol.
 */
export async function serveSocket(arrival: Arrival, upgrade: SocketUpgrade): Promise<void> {
  const caller = identify(arrival)
  if (arrival.abort.aborted) return settleAborted(arrival)
  if ('code' in caller) return reject(arrival, caller)
  const { source } = caller.policy
  const denied = source === null ? null : admitSource(arrival, source)
  if (denied !== null) return reject(arrival, denied)
  const { socket, model } = caller.match.endpoint
  if (socket === null) return reject(arrival, fault('unknown_path'))
  const inspection = checkHandshake(arrival.request) ?? inspect(caller, socket)
  if ('code' in inspection) return reject(arrival, inspection)
  arrival.trace.noteInspection(inspection)
  const admitted = admit(arrival, caller, inspection)
  const call = admitted instanceof Promise ? await admitted : admitted
  if (arrival.abort.aborted) return settleAborted(arrival)
  if ('code' in call) return reject(arrival, call)
  skipCapture(arrival, call.policy.capture)
  const rules = socket.isHttpInFrames === true ? null : call.contentPolicies
  const unseen = rules === null ? null : noteFrames(arrival, rules)
  if (unseen !== null) return reject(arrival, unseen)
  if (call.mayNameObjects && !(await checkObjects(call))) return
  const unavailable = call.pin === null ? rejectWithoutSocket(call) : null
  if (unavailable !== null) return rejectUpgrade(call, unavailable)
  if (model === 'body') return pass(call, socket, upgrade, null)

  const opened = await openProvider(call)
  switch (opened.kind) {
    case 'gone':
      return settleAborted(arrival)
    case 'failed':
      return reject(arrival, opened.fault)
    case 'refused':
      return relay(call, opened.answer, opened.retryAfterMs)
    case 'open':
      return pass(call, socket, upgrade, opened.end)
  }
}

/** No content rule reads these frames. A fault: a policy denies that. */
function noteFrames({ trace }: Arrival, policies: readonly ContentPolicy[]): Fault | null {
  const noted = contentSides.map((side) =>
    noteUnseen(trace, policies, side, 'the frames of a WebSocket are not checked'),
  )
  return noted.find((fault) => fault !== null) ?? null
}

/** RFC 9110, 15.5.22: the answer names the protocol to use. */
function rejectUpgrade({ arrival, lane }: Call, reason: Fault): Promise<void> {
  const rendered = lane.renderError(reason, arrival.id)
  return rejectWith(arrival, reason, { ...rendered, headers: [...rendered.headers, ['upgrade', 'HTTP/1.1']] })
}

function inspect({ match, query, clientSecret }: RequestCaller, socket: EndpointSocket): Inspection | Fault {
  return checkModelNames(socket.handshake(match, query, clientSecret?.model ?? null))
}

async function pass(
  call: Call,
  socket: EndpointSocket,
  upgrade: SocketUpgrade,
  provider: OpenedProvider | null,
): Promise<void> {
  const client = accept(call, upgrade, provider)
  if (client === null) {
    provider?.peer.terminate()
    return settle(call.arrival, { status: errorTable.internal.status, error: clientClosed, tokens: null })
  }
  const down = new FramesDown(
    call,
    socket.reader(() => call.trace.upstreamModel),
  )
  const up = new FramesUp(call, socket, down)
  if (provider !== null) up.connected(provider)
  const bridge: Bridge = new Bridge({
    ...{ call, socket, down, client, provider },
    readUp: (frame) => up.read(frame, bridge),
    readDown: (frame) => down.read(frame, bridge),
  })
  return bridge.run()
}

function accept(call: Call, upgrade: SocketUpgrade, provider: OpenedProvider | null): Peer | null {
  const { arrival } = call
  arrival.response.detachSocket(arrival.request.socket)
  const below = provider === null ? [] : headersExcept(headersDown(provider.headers, null), isOfHandshake)
  const passed = arrival.limits === null ? below : withoutRateLimits(below)
  return acceptHandshake(upgrade, [...passed, ...arrival.ownHeaders()], maxFrame(call))
}

/** Each side negotiates these for itself. */
const isOfHandshake = (name: string) => name.startsWith('sec-websocket-')
