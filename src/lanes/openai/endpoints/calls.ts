import type { Endpoint } from '../../contract.ts'
import { json, makes, row, uses } from '../../endpoint-row.ts'

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
  }),
  row('realtime.calls.accept', 'POST /realtime/calls/{object}/accept', {
    model: 'body-optional',
    takes: json,
    gives: 'nothing',
    object: call,
  }),
  row('realtime.calls.hangup', 'POST /realtime/calls/{object}/hangup', { gives: 'nothing', object: call }),
  row('realtime.calls.refer', 'POST /realtime/calls/{object}/refer', { takes: json, gives: 'nothing', object: call }),
  row('realtime.calls.reject', 'POST /realtime/calls/{object}/reject', { takes: json, gives: 'nothing', object: call }),

  row('live.create', 'POST /live/sessions', {
    model: 'body',
    takes: json,
    object: makes('live_session'),
    media: 'webrtc',
  }),
  row('live.fork', 'POST /live/sessions/{object}/fork', { takes: json, object: session, media: 'webrtc' }),
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
