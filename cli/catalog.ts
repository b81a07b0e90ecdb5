import { listOperations } from '../src/admin/contract/operations.ts'
import { describeInput } from './fields.ts'
import type { Operation } from './operation.ts'

/**
 * Every operation of the contract, as the command line needs it. The bundle holds the value of this in place of the file
 * (`scripts/bundle-plugins.ts`), so that no command loads schemas to know its own flags.
 */
export const catalog: readonly Operation[] = listOperations().map(({ name, path, meta, input }) => ({
  name,
  path,
  meta,
  ...describeInput(input),
}))
