import type { MockObject } from '../mock-objects.ts'
import { created, type FamilyCall, type FamilyRow, type Given, Located, on, withOne } from './family.ts'

/** What a call or a session is given to understand; it is answered with nothing. */
const hear = (kind: string) =>
  withOne(kind, (object: MockObject, { body }) => {
    Object.assign(object, body)
    return Buffer.alloc(0)
  })

/** Secrets for clients, calls by telephone, live sessions. */
export const calls: readonly FamilyRow[] = [
  on('POST /realtime/client_secrets', mint, 'json'),
  on('POST /realtime/translations/client_secrets', mint, 'json'),
  on('POST /realtime/sessions', mintSession, 'json'),
  on('POST /realtime/transcription_sessions', mintSession, 'json'),

  on('POST /realtime/calls', beginCall, 'form', 'sdp', 'session'),
  on('POST /live/sessions', beginSession, 'json', 'session', 'transport'),
  on(
    'POST /live/sessions/{id}/fork',
    withOne('live_session', (_object, given) => beginSession(given)),
    'json',
    'transport',
  ),
  on('POST /realtime/calls/{id}/accept', hear('call'), 'json', 'type'),
  on('POST /realtime/calls/{id}/hangup', hear('call')),
  on('POST /realtime/calls/{id}/refer', hear('call'), 'json', 'target_uri'),
  on('POST /realtime/calls/{id}/reject', hear('call'), 'json'),
  on('POST /live/sessions/{id}/accept', hear('live_session'), 'json', 'session'),
  on('POST /live/sessions/{id}/hangup', hear('live_session')),
  on('POST /live/sessions/{id}/refer', hear('live_session'), 'json', 'target_uri'),
  on('POST /live/sessions/{id}/reject', hear('live_session'), 'json'),
  on(
    'GET /live/sessions/{id}/content',
    withOne('live_session', ({ id }) => Buffer.from(`recording of ${id}`)),
  ),
]

function beginCall({ call, account }: FamilyCall): Given {
  const { id } = account.keep('call', { id: call.objects.nextId('rtc_') })
  return new Located('v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\n', `/v1/realtime/calls/${id}`)
}

function beginSession({ call, account }: FamilyCall): Given {
  const { id } = account.keep('live_session', { id: call.objects.nextId('live_') })
  return { session: { id }, transport: { type: 'webrtc', sdp: 'v=0' } }
}

function secret({ call }: FamilyCall) {
  return { value: `ek_${call.objects.nextId('mock')}`, expires_at: created + 600 }
}

function mint(given: FamilyCall): Given {
  return { ...secret(given), session: { type: 'realtime', object: 'realtime.session', id: 'sess_1' } }
}

/** As it was before secrets had an endpoint of their own. */
function mintSession(given: FamilyCall): Given {
  return { id: 'sess_1', object: 'realtime.session', client_secret: secret(given) }
}
