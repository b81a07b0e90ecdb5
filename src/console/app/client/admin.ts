import { createTanstackQueryUtils } from '@orpc/tanstack-query'
import { type AdminClient, linkAdminClient } from '../../../admin/client-link.ts'
import { contractRouter } from '../contract/operations.ts'
import { sendCall } from './http.ts'

/** Calls by name and type: `await admin.keys.create({ name: 'ci' })`. */
export const admin: AdminClient = linkAdminClient(contractRouter(), {
  transport: { fetch: sendCall, url: new URL('/api', location.origin).href },
  version: 'console',
  surface: 'console',
})

/** For react-query: `useQuery(orpc.keys.list.queryOptions({ input: {} }))`. */
export const orpc = createTanstackQueryUtils(admin)

/** Calls an operation whose name is known at run time only. */
export async function callOperation(path: readonly string[], input: object, signal?: AbortSignal): Promise<unknown> {
  let place: unknown = admin
  for (const word of path) place = Reflect.get(Object(place), word)
  if (typeof place !== 'function') throw new Error(`there is no operation ${path.join('.')}`)
  return place(input, signal === undefined ? {} : { signal })
}
