import type { Endpoint } from '../../contract.ts'
import { json, makes, uses } from '../../endpoint-row.ts'
import { inspectSessionBody } from '../inspection.ts'
import { createdSession } from '../objects/created-objects.ts'
import { findQueryReferences } from '../objects/references.ts'
import { readClientSecret, responsesSocket, sessionSocket } from '../sockets.ts'
import { responseCall } from './models.ts'
import { row } from './row.ts'

const live = sessionSocket(responseCall, [])
const realtime = {
  model: 'query',
  opensWith: 'client-secret',
  references: findQueryReferences,
  // Items live within one connection.
  socket: sessionSocket(responseCall, ['item']),
} as const

/** Source: wire/lanes.md, section 1.3 (Realtime and live; Responses over WebSocket). */
export const sockets: readonly Endpoint[] = [
  row('realtime', 'SOCKET /realtime', realtime),
  row('realtime', 'SOCKET /realtime/translations', realtime),
  row('responses.socket', 'SOCKET /responses', { model: 'body', socket: responsesSocket(responseCall) }),
  row('live', 'SOCKET /live/sessions', { model: 'body', socket: live }),
  row('live', 'SOCKET /live/sessions/{object}/attach', { object: uses('live_session'), socket: live }),
  row('live', 'SOCKET /live/sessions/{object}/fork', { object: uses('live_session'), socket: live }),
  mint('/realtime/client_secrets'),
  mint('/realtime/translations/client_secrets'),
  mint('/realtime/sessions'),
  mint('/realtime/transcription_sessions'),
]

function mint(path: `/${string}`): Endpoint {
  return row('realtime.client_secrets', `POST ${path}`, {
    model: 'body-optional',
    takes: json,
    mints: 'client-secret',
    inspect: inspectSessionBody,
    readClientToken: readClientSecret,
  })
}

const call = uses('call')
const session = uses('live_session')

/**
 * Calls by WebRTC, whose ids their answers tell; by telephone, whose ids the provider's webhooks tell: an operator adopts them.
 * docs/decisions/0041.
 * Source: wire/lanes.md, section 1.3 (Realtime and live).
 */
export const calls: readonly Endpoint[] = [
  row('realtime.calls.create', 'POST /realtime/calls', {
    model: 'body-optional',
    takes: ['multipart', 'bytes'],
    whole: true,
    gives: 'json-or-text',
    object: makes('call'),
    opensWith: 'client-secret',
    media: 'webrtc',
    inspectWhole: async (...given) => (await import('../call-offer.ts')).inspectOffer(...given),
  }),
  row('realtime.calls.accept', 'POST /realtime/calls/{object}/accept', {
    model: 'body-optional',
    takes: json,
    gives: 'nothing',
    object: call,
    inspect: inspectSessionBody,
  }),
  row('realtime.calls.hangup', 'POST /realtime/calls/{object}/hangup', { gives: 'nothing', object: call }),
  row('realtime.calls.refer', 'POST /realtime/calls/{object}/refer', { takes: json, gives: 'nothing', object: call }),
  row('realtime.calls.reject', 'POST /realtime/calls/{object}/reject', { takes: json, gives: 'nothing', object: call }),

  row('live.create', 'POST /live/sessions', {
    model: 'body',
    takes: json,
    object: makes('live_session'),
    media: 'webrtc',
    inspect: inspectSessionBody,
    createdObjects: createdSession,
  }),
  row('live.fork', 'POST /live/sessions/{object}/fork', {
    takes: json,
    object: session,
    media: 'webrtc',
    createdObjects: createdSession,
  }),
  row('live.accept', 'POST /live/sessions/{object}/accept', {
    model: 'body-optional',
    takes: json,
    gives: 'nothing',
    object: session,
    inspect: inspectSessionBody,
  }),
  row('live.hangup', 'POST /live/sessions/{object}/hangup', { gives: 'nothing', object: session }),
  row('live.refer', 'POST /live/sessions/{object}/refer', { takes: json, gives: 'nothing', object: session }),
  row('live.reject', 'POST /live/sessions/{object}/reject', { takes: json, gives: 'nothing', object: session }),
  row('live.content', 'GET /live/sessions/{object}/content', { gives: 'bytes', object: session }),
]
