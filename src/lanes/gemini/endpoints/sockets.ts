import type { Endpoint } from '../../contract.ts'
import { json, row } from '../../endpoint-row.ts'

const method = 'SOCKET /ws/google.ai.generativelanguage.{version}.GenerativeService.'

/** Source: wire/lanes.md, section 3.3. */
export const sockets: readonly Endpoint[] = [
  row('live', `${method}BidiGenerateContent`, { model: 'body', opensWith: 'auth-token' }),
  row('live', `${method}BidiGenerateContentConstrained`, { model: 'body', opensWith: 'auth-token' }),
  row('live.music', `${method}BidiGenerateMusic`, { model: 'body', opensWith: 'auth-token' }),
  row('live.auth_tokens', 'POST /{version}/auth_tokens', { model: 'body-optional', takes: json, mints: 'auth-token' }),
]
