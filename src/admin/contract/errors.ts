import { z } from 'zod'
import { errorStatus, type OperationErrorCode } from './error-status.ts'

/**
 * `message` is the cause, `data.hint` what to do, `data.fields` what is wrong with which input field, `data.reason` what a
 * provider's check found (as `providers.check` says it), or `behind` of a stream that somebody reads too slowly; none holds a secret.
 */
const data = z.object({
  hint: z.string(),
  fields: z.record(z.string(), z.string()).optional(),
  reason: z.string().nullable().optional(),
})

export const operationErrors = {
  invalid: { status: errorStatus.invalid, message: 'The input is not valid.', data },
  refused: { status: errorStatus.refused, message: 'The operation was rejected.', data },
  not_found: { status: errorStatus.not_found, message: 'Not found.', data },
  conflict: { status: errorStatus.conflict, message: 'The operation conflicts with what exists.', data },
  degraded: { status: errorStatus.degraded, message: 'The store is degraded.', data },
} as const satisfies Record<OperationErrorCode, object>
