import { maskKeys } from '../../core/secrets/mask-keys.ts'
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
    before: noted(change.before),
    after: noted(change.after),
  })
}

export function writtenBy({ name, id, surface, address = null }: AdminContext['caller']) {
  return { actor: name, actorId: id, surface, address }
}

/**
 * As the audit log notes it: without who owns a field, which is no part of what was changed; and without keys, which an operator may have
 * put into a header or an address: what stands in the log can never be taken out again.
 */
export function noted(shown: unknown): unknown {
  const text = JSON.stringify(withoutOwners(shown) ?? null)
  return JSON.parse(maskKeys(text))
}

function withoutOwners(shown: unknown): unknown {
  if (typeof shown !== 'object' || shown === null) return shown
  const { owned: _, ...rest } = shown as Record<string, unknown>
  return rest
}
