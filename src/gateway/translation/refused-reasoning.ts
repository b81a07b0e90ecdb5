import { hash } from 'node:crypto'
import type { Opaque } from '../../translate/conversation.ts'
import type { Gateway } from '../gateway.ts'

/** For one thread: some hundred conversations with many turns. */
const mostKnown = 10_000

/**
 * Signed reasoning that its own provider has refused, so that a conversation pays for the refusal once, not with each turn. Kept in each
 * thread's memory: another thread learns it from the provider itself.
 */
export class RefusedReasoning {
  /** Oldest first. */
  readonly #known = new Set<string>()

  add(providerId: string, refused: readonly Opaque[]): void {
    for (const opaque of refused) this.#known.add(nameOf(providerId, opaque))
    for (const oldest of this.#known) {
      if (this.#known.size <= mostKnown) return
      this.#known.delete(oldest)
    }
  }

  has(providerId: string, opaque: Opaque): boolean {
    return this.#known.size > 0 && this.#known.has(nameOf(providerId, opaque))
  }
}

const refused = new WeakMap<Gateway, RefusedReasoning>()

/** Each thread has one. */
export function refusedAt(gateway: Gateway): RefusedReasoning {
  return refused.getOrInsertComputed(gateway, () => new RefusedReasoning())
}

function nameOf(providerId: string, { value }: Opaque): string {
  return hash('sha256', `${providerId} ${value}`, 'base64url')
}
