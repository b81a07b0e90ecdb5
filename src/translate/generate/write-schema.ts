import type { JsonObject } from '../../core/json-value.ts'
import type { Ledger } from '../ledger.ts'
import { schemaForGemini } from '../schema/gemini.ts'
import { SchemaError } from '../schema/references.ts'

/** Each loss goes to the ledger, and to `alsoTo`. */
export function writeSchema(
  schema: JsonObject,
  path: string,
  ledger: Ledger,
  alsoTo?: (path: string) => void,
): JsonObject {
  try {
    return schemaForGemini(schema, path, (lost) => {
      ledger.lose(lost)
      alsoTo?.(lost)
    })
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error
    ledger.refuse(error.path, error.message)
    return {}
  }
}
