import { type Fault, fault } from '../core/errors.ts'

/** What no provider of the client's format would accept either. Thrown within a reader of requests only, which makes it a value. */
export class RequestError extends Error {
  readonly fault: Fault

  constructor(param: string, why: string) {
    super(why)
    this.fault = fault('invalid_request', `The request body is not valid: ${why}.`, { param })
  }
}

/** The value, or the fault that was found on the way to it. */
export function orFault<T>(read: () => T): T | Fault {
  try {
    return read()
  } catch (error) {
    if (error instanceof RequestError) return error.fault
    throw error
  }
}
