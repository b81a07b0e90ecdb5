import { type AnyContractProcedure, type AnyContractRouter, isContractProcedure } from '@orpc/contract'
import { z } from 'zod'
import { contract } from './index.ts'
import type { OperationMeta } from './operation.ts'

export interface ListedOperation {
  /** `providers.credentials.add`. */
  name: string
  path: string[]
  meta: OperationMeta
  input: z.ZodObject
  /** The schema of an answer; for an operation that shows `live`, an event iterator's schema. */
  output: unknown
}

/** Every operation in the order of the contract: for commands, reference pages and parity tests. */
export function listOperations(): ListedOperation[] {
  const operations: ListedOperation[] = []
  walk(contract, [], (procedure, path) => operations.push(describe(procedure, path)))
  return operations
}

function walk(
  router: AnyContractRouter,
  path: string[],
  each: (procedure: AnyContractProcedure, path: string[]) => void,
): void {
  if (isContractProcedure(router)) return each(router, path)
  for (const [word, inner] of Object.entries(router)) walk(inner, [...path, word], each)
}

function describe(procedure: AnyContractProcedure, path: string[]): ListedOperation {
  const { meta, inputSchema, outputSchema } = procedure['~orpc']
  const name = path.join('.')
  if (!isOperationMeta(meta)) throw new TypeError(`operation ${name} does not say what it is: make it with operation()`)
  if (!(inputSchema instanceof z.ZodObject)) throw new TypeError(`operation ${name} has no object as its input`)
  return { name, path, meta, input: inputSchema, output: outputSchema }
}

function isOperationMeta(meta: object): meta is OperationMeta {
  return 'summary' in meta && 'role' in meta && 'reach' in meta && 'effect' in meta && 'show' in meta
}
