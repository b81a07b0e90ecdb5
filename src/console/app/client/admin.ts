import { createTanstackQueryUtils } from '@orpc/tanstack-query'
import { type AdminClient, linkAdminClient } from '../../../admin/client-link.ts'
import { contractRouter } from '../contract/operations.ts'
import { toast } from '../parts/toast-store.ts'
import { sendCall } from './http.ts'
import { queries, sessionKey } from './queries.ts'

/** Calls by name and type: `await admin.keys.create({ name: 'ci' })`. */
export const admin: AdminClient = linkAdminClient(contractRouter(), {
  transport: { fetch: send, url: new URL('/api', location.origin).href },
  version: 'console',
  surface: 'console',
  onVersion: noteVersion,
})

/** For react-query: `useQuery(orpc.keys.list.queryOptions({ input: {} }))`. */
export const orpc = createTanstackQueryUtils(admin)

/** One answer of 401 says that the session is over: whoever asks for the state of it hears so and shows sign-in. */
async function send(request: Request): Promise<Response> {
  const answer = await sendCall(request)
  if (answer.status === 401) void queries.invalidateQueries({ queryKey: sessionKey })
  return answer
}

let version: string | null = null

/** A page that was open while the gateway was replaced belongs to the one before. */
function noteVersion(heard: string): void {
  if (version !== null && version !== heard)
    toast({
      tone: 'plain',
      title: `The gateway is now at version ${heard}`,
      text: 'Reload the page to get the matching console.',
    })
  version = heard
}

/** Calls an operation whose name is known at run time only. */
export async function callOperation(path: readonly string[], input: object, signal?: AbortSignal): Promise<unknown> {
  let place: unknown = admin
  for (const word of path) place = Reflect.get(Object(place), word)
  if (typeof place !== 'function') throw new Error(`there is no operation ${path.join('.')}`)
  return place(input, signal === undefined ? {} : { signal })
}
