import type { z } from 'zod'
import type { OperationMeta } from '../src/admin/contract/operation.ts'

/** What the command line needs to know of an operation; entries of the contract's own walk have this shape. */
export interface Operation {
  /** `providers.credentials.add` */
  name: string
  path: readonly string[]
  meta: OperationMeta
  input: z.ZodType | undefined
}

type Procedure = (input: unknown, options: { signal?: AbortSignal }) => Promise<unknown>

/** The typed client is a tree of procedures in the shape of the contract; the path leads to one of them. */
export async function callOperation(
  client: object,
  operation: Pick<Operation, 'name' | 'path'>,
  input: Record<string, unknown>,
  options: { signal?: AbortSignal } = {},
): Promise<unknown> {
  let place: unknown = client
  for (const step of operation.path) {
    place = isTree(place) ? Reflect.get(place, step) : undefined
  }
  if (!isProcedure(place)) throw new Error(`The client has no operation ${operation.name}.`)
  return place(input, options)
}

function isTree(place: unknown): place is object {
  return typeof place === 'function' || (typeof place === 'object' && place !== null)
}

function isProcedure(place: unknown): place is Procedure {
  return typeof place === 'function'
}
