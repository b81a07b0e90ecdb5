import { asObject, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'

/** The deepest nesting: no person writes a deeper schema. */
export const deepest = 100

/** What is wrong with a schema that cannot be written, and at which path. */
export class SchemaError extends Error {
  readonly path: string

  constructor(path: string, why: string) {
    super(why)
    this.path = path
  }
}

/** How much text references may insert in one request: nested references multiply. */
export class ReferenceBudget {
  #left = 1_000_000

  /** In characters of JSON. */
  spend(characters: number, path: string): void {
    this.#left -= characters
    if (this.#left < 0) throw new SchemaError(path, 'the schemas are too large once their references are in place')
  }
}

/** Resolves references within one schema: `#/$defs/Name`, `#/definitions/Name`, `#`, or any other JSON pointer into it. */
export class References {
  readonly #root: JsonObject
  readonly #budget: ReferenceBudget
  readonly #sizes = new Map<JsonObject, number>()

  constructor(root: JsonObject, budget: ReferenceBudget) {
    this.#root = root
    this.#budget = budget
  }

  /** `open`: the references that are being resolved; one that leads back to them is infinite. */
  find(reference: string, path: string, open: readonly string[]): JsonObject {
    if (open.includes(reference)) {
      throw new SchemaError(path, `the schema at ${path} contains itself (${reference}), which Gemini cannot read`)
    }
    const found = reference.startsWith('#') ? this.#follow(reference.slice(1)) : null
    if (found === null) throw new SchemaError(path, `the schema at ${path} refers to ${reference}, which is not in it`)
    const size = this.#sizes.get(found) ?? JSON.stringify(found).length
    this.#sizes.set(found, size)
    this.#budget.spend(size + reference.length, path)
    return found
  }

  #follow(pointer: string): JsonObject | null {
    let value: unknown = this.#root
    for (const step of pointer.split('/').slice(1)) {
      const name = decode(step)
      value = Array.isArray(value) ? value[Number(name)] : ownMember(asObject(value), name)
    }
    return asObject(value)
  }
}

function ownMember(object: JsonObject | null, name: string): unknown {
  return object === null ? undefined : ownValue(object, name)
}

function decode(step: string): string {
  const plain = step.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
