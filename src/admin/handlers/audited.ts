import { maskKeys } from '../../core/mask-keys.ts'
import type { AdminContext } from './context.ts'

interface AuditedChange {
  /** `providers.add` */
  operation: string
  resource: { kind: string; id: string; name: string }
  /** Where its id does not say whose it is. */
  projectId?: string
  /** As the operation's own output shows it, hence without secrets; null: was not, or is no more. */
  before: unknown
  after: unknown
}

/** The tables, whose writes are committed together with the line that says who changed what. */
export function audited({ store, caller, force }: AdminContext, change: AuditedChange) {
  return store.audited({
    ...writtenBy(caller),
    force: force === true,
    ...change,
    before: withoutKeys(withoutOwners(change.before)),
    after: withoutKeys(withoutOwners(change.after)),
  })
}

export function writtenBy({ name, id, surface, address = null }: AdminContext['caller']) {
  return { actor: name, actorId: id, surface, address }
}

/** Who owns a field is no part of what was changed. */
function withoutOwners(shown: unknown): unknown {
  if (typeof shown !== 'object' || shown === null) return shown
  const { owned: _, ...rest } = shown as Record<string, unknown>
  return rest
}

/** An operator may have put a key into a header or an address, and what stands in the log can never be taken out again. */
function withoutKeys(shown: unknown): unknown {
  const text = JSON.stringify(shown ?? null)
  const masked = maskKeys(text)
  return masked === text ? shown : JSON.parse(masked)
}
