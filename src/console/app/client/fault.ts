import { ORPCError } from '@orpc/client'
import { errorText } from '../../../core/caught.ts'
import { consoleWords } from './console-words.ts'
import { AuthFault } from './http.ts'

/** Why a call failed, in the parts that every surface shows. */
export interface Fault {
  code: string
  message: string
  /** What to do. */
  hint: string
  /** By input field, where the gateway named them. */
  fields: Record<string, string>
  /** To search for; null: the call never reached a request. */
  requestId: string | null
  /** What a check found, in its own word (`wrong_url`); null: nothing was checked. */
  reason: string | null
}

export function faultOf(error: unknown): Fault {
  if (error instanceof AuthFault)
    return { code: error.code, message: error.message, hint: error.hint, fields: {}, requestId: null, reason: null }
  if (error instanceof ORPCError) return faultOfCall(error)
  const message = errorText(error)
  if (error instanceof TypeError && /fetch|network|load failed/i.test(message))
    return {
      code: 'unreachable',
      message: 'The gateway is not responding.',
      hint: 'Check that it is running: spgw status',
      fields: {},
      requestId: null,
      reason: null,
    }
  return { code: 'console', message, hint: 'Reload the page.', fields: {}, requestId: null, reason: null }
}

function faultOfCall(error: ORPCError<string, unknown>): Fault {
  const data = error.data
  const read = (name: string): unknown => (typeof data === 'object' && data !== null ? Reflect.get(data, name) : null)
  const hint = read('hint')
  const id = read('request_id')
  const reason = read('reason')
  return {
    code: error.code.toLowerCase(),
    message: consoleWords(error.message),
    hint: typeof hint === 'string' ? consoleWords(hint) : 'Try again.',
    fields: readFields(read('fields')),
    requestId: typeof id === 'string' ? id : null,
    reason: typeof reason === 'string' ? reason : null,
  }
}

function readFields(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, consoleWords(String(text))]))
}

/** The session has ended, or there never was one. */
export function isSignedOut(error: unknown): boolean {
  if (error instanceof AuthFault) return error.status === 401
  return error instanceof ORPCError && error.status === 401
}
