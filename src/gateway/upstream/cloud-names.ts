import { walkMembers } from '../../lanes/json-tree.ts'
import type { Leg } from './leg.ts'

/** The content of these members is the client's own: arguments of functions and what they gave back, labels. */
const foreign = new Set(['args', 'arguments', 'labels', 'metadata', 'response'])

/**
 * Why a request does not go to this provider: it names what the provider's cloud would open with the rights of the gateway's own account,
 * whichever client asks. Null: it goes.
 */
export function findDenied({
  provider: { kind, row },
  inspection,
  translation,
  request: { body },
}: Leg): string | null {
  const { deniesName } = kind
  if (deniesName === undefined || !Buffer.isBuffer(body)) return null
  // The gateway itself writes a translated body, without escapes.
  if (translation === null ? !inspection.mayRefer : !body.includes('gs:')) return null
  let denied: string | null = null
  const wrong = walkMembers(body, {
    enter: (name) => !foreign.has(name),
    text(name, text, parent) {
      denied ??= deniesName(row, name, parent, text)
    },
  })
  return wrong?.message ?? denied
}
