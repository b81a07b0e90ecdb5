import type { Endpoint } from '../../contract.ts'
import { json, row, uses } from '../../endpoint-row.ts'

const call = uses('call')
const session = uses('live_session')

const webRtc =
  'WebRTC carries sound straight from the client to the provider, past keys, policies and records; connect by WebSocket'

function refuseWebRtc(operation: string, path: `/${string}`): Endpoint {
  return row(operation, `POST ${path}`, { served: 'nobody', why: webRtc })
}

/**
 * Calls by telephone, whose ids the provider's webhooks tell: an operator adopts them. Live sessions are known from their WebSocket.
 * Source: wire/lanes.md, section 1.3 (Realtime and live).
 */
export const calls: readonly Endpoint[] = [
  refuseWebRtc('realtime.calls.create', '/realtime/calls'),
  row('realtime.calls.accept', 'POST /realtime/calls/{object}/accept', {
    model: 'body-optional',
    takes: json,
    gives: 'nothing',
    object: call,
  }),
  row('realtime.calls.hangup', 'POST /realtime/calls/{object}/hangup', { gives: 'nothing', object: call }),
  row('realtime.calls.refer', 'POST /realtime/calls/{object}/refer', { takes: json, gives: 'nothing', object: call }),
  row('realtime.calls.reject', 'POST /realtime/calls/{object}/reject', { takes: json, gives: 'nothing', object: call }),

  refuseWebRtc('live.create', '/live/sessions'),
  refuseWebRtc('live.fork', '/live/sessions/{object}/fork'),
  row('live.accept', 'POST /live/sessions/{object}/accept', {
    model: 'body-optional',
    takes: json,
    gives: 'nothing',
    object: session,
  }),
  row('live.hangup', 'POST /live/sessions/{object}/hangup', { gives: 'nothing', object: session }),
  row('live.refer', 'POST /live/sessions/{object}/refer', { takes: json, gives: 'nothing', object: session }),
  row('live.reject', 'POST /live/sessions/{object}/reject', { takes: json, gives: 'nothing', object: session }),
  row('live.content', 'GET /live/sessions/{object}/content', { gives: 'bytes', object: session }),
]
