import type { JsonObject } from './mock-format.ts'

export interface MockObject extends JsonObject {
  id: string
}

/** What a mock provider keeps for each of its accounts: whoever comes with another credential sees none of it. */
export class MockObjects {
  readonly #accounts = new Map<string, MockAccount>()

  of(credential: string): MockAccount {
    const known = this.#accounts.get(credential) ?? new MockAccount()
    this.#accounts.set(credential, known)
    return known
  }

  /** Over all accounts, so that no two of them have the same id. */
  #last = 0
  nextId(prefix: string): string {
    return `${prefix}${String(++this.#last).padStart(6, '0')}`
  }
}

export class MockAccount {
  readonly #kinds = new Map<string, Map<string, MockObject>>()
  readonly #bytes = new Map<string, Buffer>()

  keep<T extends MockObject>(kind: string, object: T, bytes?: Buffer): T {
    const all = this.#kinds.get(kind) ?? new Map<string, MockObject>()
    this.#kinds.set(kind, all.set(object.id, object))
    if (bytes !== undefined) this.#bytes.set(object.id, bytes)
    return object
  }

  find(kind: string, id: string): MockObject | null {
    return this.#kinds.get(kind)?.get(id) ?? null
  }

  /** Oldest first. */
  all(kind: string): MockObject[] {
    return [...(this.#kinds.get(kind)?.values() ?? [])]
  }

  bytes(id: string): Buffer {
    return this.#bytes.get(id) ?? Buffer.alloc(0)
  }

  drop(kind: string, id: string): boolean {
    this.#bytes.delete(id)
    return this.#kinds.get(kind)?.delete(id) ?? false
  }
}
