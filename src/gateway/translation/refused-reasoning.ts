import { hash } from 'node:crypto'
import type { Opaque } from '../../translate/conversation.ts'
import type { Gateway } from '../gateway.ts'

/** On one thread: some hundred conversations of many turns. */
const mostKnown = 10_000

/**
 * Signed reasoning that its own provider has refused, so that a conversation pays for the refusal once and not with each of its turns.
 * In the memory of one thread: another one learns it by asking itself.
 */
export class RefusedReasoning {
  /** The oldest first. */
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

/** One for each thread. */
export function refusedAt(gateway: Gateway): RefusedReasoning {
  return refused.getOrInsertComputed(gateway, () => new RefusedReasoning())
}

function nameOf(providerId: string, { value }: Opaque): string {
  return hash('sha256', `${providerId} ${value}`, 'base64url')
}
