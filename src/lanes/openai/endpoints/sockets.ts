import type { Endpoint } from '../../contract.ts'
import { row, uses } from '../../endpoint-row.ts'

/** Source: wire/lanes.md, section 1.3 (Realtime and live; Responses over WebSocket). */
export const sockets: readonly Endpoint[] = [
  row('realtime', 'SOCKET /realtime', { model: 'query' }),
  row('realtime', 'SOCKET /realtime/translations', { model: 'query' }),
  row('responses.socket', 'SOCKET /responses', { model: 'body' }),
  row('live', 'SOCKET /live/sessions', { model: 'body' }),
  row('live', 'SOCKET /live/sessions/{object}/attach', { object: uses('live_session') }),
  row('live', 'SOCKET /live/sessions/{object}/fork', { object: uses('live_session') }),
]
