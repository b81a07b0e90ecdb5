import type { Endpoint } from '../../contract.ts'
import { json, row, uses } from '../../endpoint-row.ts'

/** Source: wire/lanes.md, section 1.3 (Realtime and live; Responses over WebSocket). */
export const sockets: readonly Endpoint[] = [
  row('realtime', 'SOCKET /realtime', { model: 'query', opensWith: 'client-secret' }),
  row('realtime', 'SOCKET /realtime/translations', { model: 'query', opensWith: 'client-secret' }),
  row('responses.socket', 'SOCKET /responses', { model: 'body' }),
  row('live', 'SOCKET /live/sessions', { model: 'body' }),
  row('live', 'SOCKET /live/sessions/{object}/attach', { object: uses('live_session') }),
  row('live', 'SOCKET /live/sessions/{object}/fork', { object: uses('live_session') }),
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
  })
}
