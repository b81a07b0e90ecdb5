import derived from 'spgw:contract'
import type { AnyContractRouter } from '@orpc/contract'
import type { DerivedOperation } from './derived.ts'

/** Every operation, in the order of the contract. */
export const operations: readonly DerivedOperation[] = derived

const byName = new Map(operations.map((operation) => [operation.name, operation]))

export function findOperation(name: string): DerivedOperation | undefined {
  return byName.get(name)
}

/** Throws for a name that is not in the contract: a mistake of the page. */
export function operationNamed(name: string): DerivedOperation {
  const operation = byName.get(name)
  if (operation === undefined) throw new Error(`the contract has no operation ${name}`)
  return operation
}

/** The names alone, which is all that a call's address is made of. */
export function contractRouter(): AnyContractRouter {
  const router: Record<string, unknown> = {}
  for (const { path } of operations) {
    let node = router
    for (const word of path.slice(0, -1)) {
      node[word] ??= {}
      node = node[word] as Record<string, unknown>
    }
    node[path.at(-1) ?? ''] = { '~orpc': { errorMap: {}, meta: {}, route: {} } }
  }
  return router as AnyContractRouter
}

/** Operations by the noun that they are of: `providers`, `providers.credentials`. */
export function operationsByNoun(
  counts: (operation: DerivedOperation) => boolean,
): [noun: string, operations: DerivedOperation[]][] {
  const nouns = new Map<string, DerivedOperation[]>()
  for (const operation of operations.filter(counts)) {
    const noun = operation.path.slice(0, -1).join('.') || operation.name
    nouns.set(noun, [...(nouns.get(noun) ?? []), operation])
  }
  return [...nouns]
}

/** As a person types it: `spgw providers add`. */
export function commandOf({ path }: DerivedOperation): string {
  return `spgw ${path.join(' ')}`
}
