import type { Endpoint } from '../../contract.ts'
import { row } from '../../endpoint-row.ts'

const method = 'SOCKET /ws/google.ai.generativelanguage.{version}.GenerativeService.'

/** Source: wire/lanes.md, section 3.3. */
export const sockets: readonly Endpoint[] = [
  row('live', `${method}BidiGenerateContent`, { model: 'body' }),
  row('live', `${method}BidiGenerateContentConstrained`, { model: 'body' }),
  row('live.music', `${method}BidiGenerateMusic`, { model: 'body' }),
]
