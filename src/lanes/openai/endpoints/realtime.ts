import type { Endpoint } from '../../contract.ts'
import { creates, json, uses } from '../../endpoint-row.ts'
import { inspectSessionBody } from '../inspection.ts'
import { createdSession } from '../objects/created-objects.ts'
import { findQueryReferences } from '../objects/references.ts'
import { readClientSecret, responsesSocket, sessionSocket } from '../sockets.ts'
import { responseCall } from './models.ts'
import { row } from './row.ts'

const live = sessionSocket(responseCall, [])
const realtime = {
  model: 'query',
  acceptsClientToken: 'client-secret',
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
    billed: false,
    model: 'body-optional',
    requestForms: json,
    issuesClientToken: 'client-secret',
    inspect: inspectSessionBody,
    readClientToken: readClientSecret,
  })
}

const call = uses('call')
const session = uses('live_session')

/**
 * Calls by WebRTC, whose ids are in their answers, and by telephone, whose ids are in the provider's webhooks: an
 * operator adopts those (docs/decisions/0041). Source: wire/lanes.md, section 1.3 (Realtime and live).
 */
export const calls: readonly Endpoint[] = [
  row('realtime.calls.create', 'POST /realtime/calls', {
    model: 'body-optional',
    requestForms: ['multipart', 'bytes'],
    readWhole: true,
    responseForm: 'json-or-text',
    object: creates('call'),
    acceptsClientToken: 'client-secret',
    media: 'webrtc',
    inspectWhole: async (...given) => (await import('../call-offer.ts')).inspectOffer(...given),
  }),
  row('realtime.calls.accept', 'POST /realtime/calls/{object}/accept', {
    model: 'body-optional',
    requestForms: json,
    responseForm: 'nothing',
    object: call,
    media: 'sip',
    inspect: inspectSessionBody,
  }),
  row('realtime.calls.hangup', 'POST /realtime/calls/{object}/hangup', { responseForm: 'nothing', object: call }),
  row('realtime.calls.refer', 'POST /realtime/calls/{object}/refer', {
    requestForms: json,
    responseForm: 'nothing',
    object: call,
  }),
  row('realtime.calls.reject', 'POST /realtime/calls/{object}/reject', {
    requestForms: json,
    responseForm: 'nothing',
    object: call,
  }),

  row('live.create', 'POST /live/sessions', {
    model: 'body',
    requestForms: json,
    object: creates('live_session'),
    media: 'webrtc',
    inspect: inspectSessionBody,
    createdObjects: createdSession,
  }),
  row('live.fork', 'POST /live/sessions/{object}/fork', {
    requestForms: json,
    object: session,
    media: 'webrtc',
    createdObjects: createdSession,
  }),
  row('live.accept', 'POST /live/sessions/{object}/accept', {
    model: 'body-optional',
    requestForms: json,
    responseForm: 'nothing',
    object: session,
    media: 'sip',
    inspect: inspectSessionBody,
  }),
  row('live.hangup', 'POST /live/sessions/{object}/hangup', { responseForm: 'nothing', object: session }),
  row('live.refer', 'POST /live/sessions/{object}/refer', {
    requestForms: json,
    responseForm: 'nothing',
    object: session,
  }),
  row('live.reject', 'POST /live/sessions/{object}/reject', {
    requestForms: json,
    responseForm: 'nothing',
    object: session,
  }),
  row('live.content', 'GET /live/sessions/{object}/content', { responseForm: 'bytes', object: session }),
]
