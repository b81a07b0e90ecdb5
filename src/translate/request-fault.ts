import { type Fault, fault } from '../core/errors.ts'
import { countOf, numberOf } from './json.ts'

/** For what no provider of the client's format would accept either. Only readers of requests throw it, and turn it into a value. */
export class RequestError extends Error {
  readonly fault: Fault

  /** `why`: what is wrong with the member at `param`. */
  constructor(param: string, why: string) {
    super(why)
    this.fault = fault('invalid_request', `The request body is not valid: ${param} ${why}.`, { param })
  }
}

/** The value, or the fault of a `RequestError` that was thrown. */
export function orFault<T>(read: () => T): T | Fault {
  try {
    return read()
  } catch (error) {
    if (error instanceof RequestError) return error.fault
    throw error
  }
}

/** An output limit. Clients that want none leave it out, or write -1. */
export function limitAt(value: unknown, path: string): number | null {
  const limit = countOf(value)
  if (limit !== null || value === undefined || value === null || numberOf(value) === -1) return limit
  throw new RequestError(path, 'is not a whole number')
}
