import { z } from 'zod'

/** How an operation can fail. `message` is the cause, `data.hint` what to do; neither holds a secret. */
const data = z.object({ hint: z.string() })

export const operationErrors = {
  /** Wrong usage: a field is missing, ill-formed, or contradicts another. */
  invalid: { status: 400, message: 'The input is not valid.', data },
  /** The caller may not do this, or the gateway checked and says no; nothing was changed. */
  refused: { status: 403, message: 'The operation is refused.', data },
  not_found: { status: 404, message: 'There is no such thing.', data },
  /** The name is taken, or the thing is still in use; nothing was changed. */
  conflict: { status: 409, message: 'The operation conflicts with what exists.', data },
  /** The store does not answer as it should; traffic goes on. */
  degraded: { status: 503, message: 'The store is not well.', data },
} as const

export type OperationErrorCode = keyof typeof operationErrors
