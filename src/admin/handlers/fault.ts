import { ORPCError } from '@orpc/server'
import { errorCode } from '../../core/caught.ts'
import { ownValue } from '../../core/own-value.ts'
import { maskGatewayKeys } from '../../core/secrets/gateway-key.ts'
import { SealError } from '../../sealing/seal-error.ts'
import {
  StoreBehind,
  StoreConflict,
  StoreDegraded,
  StoreOwned,
  StoreReadOnly,
  StoreStopped,
} from '../../store/store-error.ts'
import { errorStatus, type OperationErrorCode } from '../contract/error-status.ts'

/** `message` is the cause, `hint` what to do. Neither may hold a secret. */
export function operationFault(code: OperationErrorCode, message: string, hint: string, options?: ErrorOptions) {
  return new ORPCError(code, { status: errorStatus[code], message, data: { hint }, ...options })
}

export const notFound = (what: string, name: string, hint: string) =>
  operationFault('not_found', `There is no ${what} ${JSON.stringify(maskGatewayKeys(name))}.`, hint)
export const invalid = (message: string, hint: string) => operationFault('invalid', message, hint)
export const refused = (message: string, hint: string) => operationFault('refused', message, hint)
export const conflict = (message: string, hint: string) => operationFault('conflict', message, hint)

/** What other rooms throw, as an operation's error; null: a fault of our own. */
export function translateFault(error: unknown) {
  if (error instanceof StoreConflict)
    return operationFault('conflict', sentence(error.message), adviseConflict(error), { cause: error })
  if (error instanceof StoreOwned)
    return operationFault(
      'refused',
      sentence(error.message),
      'Change it there and apply the file, or add --force: the change then lasts until the file is applied again.',
      { cause: error },
    )
  if (error instanceof StoreStopped)
    return operationFault('refused', 'The read was cancelled.', 'Ask again.', { cause: error })
  if (error instanceof StoreBehind) {
    const hint = 'Start following again; to see the requests in between: spgw requests list'
    const fault = operationFault('degraded', `The reader is too slow: ${error.message}.`, hint, { cause: error })
    Object.assign(fault.data, { reason: 'behind' })
    return fault
  }
  if (error instanceof StoreReadOnly)
    return operationFault('degraded', sentence(error.message), adviseReadOnly(error), { cause: error })
  if (error instanceof StoreDegraded)
    return operationFault('degraded', sentence(error.message), 'Requests are still served. For details: spgw status', {
      cause: error,
    })
  const disk = diskTrouble(error)
  if (disk !== null)
    return operationFault('degraded', disk, 'Nothing was changed. Solve that, then try again.', { cause: error })
  if (error instanceof SealError) return operationFault('refused', error.message, error.hint, { cause: error })
  if (error instanceof ORPCError) return error.code === 'BAD_REQUEST' ? invalidInput(error) : error
  return null
}

const diskTroubles: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EIO: 'the disk failed',
}

/** Of a file that the gateway writes itself: a machine key, a copy for a backup. */
function diskTrouble(error: unknown): string | null {
  const code = errorCode(error) ?? ''
  const trouble = ownValue(diskTroubles, code)
  return trouble === undefined ? null : sentence(`${trouble} (${code})`)
}

/** By why it cannot be changed here (`src/cluster/troubles.ts`). */
function adviseReadOnly({ message }: StoreReadOnly): string {
  if (message.includes('was removed from the cluster'))
    return 'Make the change on another node. Stop this one, or let it continue alone: spgw cluster leave'
  return 'Requests continue as before, and keys can be revoked. For details: spgw cluster status. If it is not known whether the change was made, check before you repeat it.'
}

/** By what the store says of it (`src/store/reject.ts`). */
function adviseConflict({ message, hint }: StoreConflict): string {
  if (hint !== undefined) return hint
  if (message.includes(' is used by ')) return 'Change or remove what uses it first.'
  return message.includes(' exists already') ? 'Choose another name.' : 'Refresh and try again.'
}

interface InputIssue {
  message: string
  path?: readonly (PropertyKey | { key: PropertyKey })[]
}

function invalidInput(error: ORPCError<string, unknown>) {
  const issues = readIssues(error.data)
  const text = issues.map(describeIssue).join('; ')
  const hint = 'Correct it, and try again.'
  return new ORPCError('invalid', {
    status: errorStatus.invalid,
    message: sentence(text === '' ? error.message : text),
    data: { hint, fields: describeFields(issues) },
    cause: error,
  })
}

/** For forms, by the field at fault. */
function describeFields(issues: readonly InputIssue[]): Record<string, string> {
  return Object.fromEntries(
    issues.flatMap(({ message, path: [step] = [] }) => {
      if (step === undefined) return []
      const text = message.endsWith('received undefined') ? 'Required' : message
      return [[String(typeof step === 'object' ? step.key : step), sentence(text)]]
    }),
  )
}

function readIssues(data: unknown): InputIssue[] {
  if (typeof data !== 'object' || data === null || !('issues' in data) || !Array.isArray(data.issues)) return []
  return data.issues
}

/** Names the field and never its value, which may be a secret. */
function describeIssue(issue: InputIssue): string {
  const path = (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  if (path === '') return issue.message
  return issue.message.endsWith('received undefined') ? `${path} is missing` : `${path}: ${issue.message}`
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(first) ? first : `${first}.`
}
