import type { AdminContext } from './context.ts'
import { notFound, refused } from './fault.ts'

/**
 * Records hold no bodies: nothing in the data plane keeps them yet, whatever a policy says. Until it does, a replay is
 * refused, with what to do instead.
 */
export async function refuseReplay({ store, runtime }: AdminContext, id: string): Promise<never> {
  await runtime.ingest()
  const record = await store.records.get(id)
  if (record === null)
    throw notFound('request', id, 'The id stands in the header x-sp-request-id. List them: spgw requests list')
  const model = record.model ?? 'MODEL'
  throw refused(
    `The body of ${record.id} was not kept, so it cannot be sent again: this gateway captures no bodies.`,
    `Send one like it: spgw requests send ${JSON.stringify(model)} --body '…'${record.key === null ? '' : ` --key ${record.key.name}`}`,
  )
}
