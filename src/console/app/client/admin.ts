import { createTanstackQueryUtils } from '@orpc/tanstack-query'
import { type AdminClient, linkAdminClient } from '../../../admin/client-link.ts'
import { contractRouter } from '../contract/operations.ts'
import { toast } from '../parts/toast-store.ts'
import { endSession } from '../session/ended-session.ts'
import { sendCall } from './http.ts'

/** Calls by name and type: `await admin.keys.create({ name: 'ci' })`. */
export const admin: AdminClient = linkAdminClient(contractRouter(), {
  transport: { fetch: send, url: new URL('/api', location.origin).href },
  version: 'console',
  surface: 'console',
  onVersion: checkVersion,
})

/** For react-query: `useQuery(orpc.keys.list.queryOptions({ input: {} }))`. */
export const orpc = createTanstackQueryUtils(admin)

/** A 401 means that the session has ended: the session is read again, and the page shows sign-in. */
async function send(request: Request): Promise<Response> {
  const answer = await sendCall(request)
  if (answer.status === 401) endSession()
  return answer
}

let version: string | null = null

/** A page that was open while the gateway was replaced belongs to the one before. */
function checkVersion(current: string): void {
  if (version !== null && version !== current)
    toast({
      tone: 'plain',
      title: `The gateway is now at version ${current}`,
      text: 'Reload the page to get the matching console.',
    })
  version = current
}

/** Calls an operation whose name is known at run time only. */
export async function callOperation(path: readonly string[], input: object, signal?: AbortSignal): Promise<unknown> {
  let node: unknown = admin
  for (const word of path) node = Reflect.get(Object(node), word)
  if (typeof node !== 'function') throw new Error(`there is no operation ${path.join('.')}`)
  return node(input, signal === undefined ? {} : { signal })
}
