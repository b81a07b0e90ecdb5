/** How an operation can fail, with its HTTP status. Apart from the schemas, so that refusing needs none of them. */
export const errorStatus = {
  /** Wrong usage: a field is missing, ill-formed, or contradicts another. */
  invalid: 400,
  /** The caller may not do this, or the gateway checked and says no; nothing was changed. */
  refused: 403,
  not_found: 404,
  /** The name is taken, or the thing is still in use; nothing was changed. */
  conflict: 409,
  /** The store does not answer as it should; traffic goes on. */
  degraded: 503,
} as const

export type OperationErrorCode = keyof typeof errorStatus
