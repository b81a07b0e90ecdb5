import type { JsonObject } from '../../core/json/json-value.ts'
import type { Ledger } from '../ledger.ts'
import { schemaForGemini } from '../schema/gemini.ts'
import { ReferenceBudget, SchemaError } from '../schema/references.ts'

/** Writes the schemas of one request. */
export class SchemaWriter {
  readonly #ledger: Ledger
  readonly #budget = new ReferenceBudget()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Each loss goes to the ledger, and to `alsoTo`. */
  write(schema: JsonObject, path: string, alsoTo?: (path: string) => void): JsonObject {
    const lose = (lost: string) => {
      this.#ledger.lose(lost)
      alsoTo?.(lost)
    }
    try {
      return schemaForGemini(schema, path, lose, this.#budget)
    } catch (error) {
      if (!(error instanceof SchemaError)) throw error
      this.#ledger.refuse(error.path, error.message)
      return {}
    }
  }
}
