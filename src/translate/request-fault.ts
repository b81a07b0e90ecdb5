import { type Fault, fault } from '../core/errors.ts'
import { countOf, numberOf } from './json.ts'

/** What no provider of the client's format would accept either. Thrown within a reader of requests only, which makes it a value. */
export class RequestError extends Error {
  readonly fault: Fault

  /** `why`: what the member at `param` is, or is not. */
  constructor(param: string, why: string) {
    super(why)
    this.fault = fault('invalid_request', `The request body is not valid: ${param} ${why}.`, { param })
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

/** How long an answer may get. Clients that want no limit leave it out, or write -1. */
export function limitAt(value: unknown, path: string): number | null {
  const limit = countOf(value)
  if (limit !== null || value === undefined || value === null || numberOf(value) === -1) return limit
  throw new RequestError(path, 'is no whole number')
}
