import { walkMembers } from '../../lanes/json-tree.ts'
import type { DeniesName } from '../../providers/cloud-names.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** The content of these members is the client's own: arguments of functions and what they gave back, labels. */
const foreign = new Set(['args', 'arguments', 'labels', 'metadata', 'response'])

/**
 * Why a request does not go to this provider: it names what the provider's cloud would open with the rights of the gateway's own account,
 * whichever client asks. Null: it goes.
 */
export function findDenied(
  { row }: LiveProvider,
  deniesName: DeniesName,
  body: unknown,
  mayName: (body: Buffer) => boolean,
): string | null {
  if (!Buffer.isBuffer(body) || !mayName(body)) return null
  let denied: string | null = null
  const wrong = walkMembers(body, {
    enter: (name) => !foreign.has(name),
    text(name, text, parent) {
      denied ??= deniesName(row, name, parent, text)
    },
  })
  return wrong?.message ?? denied
}
