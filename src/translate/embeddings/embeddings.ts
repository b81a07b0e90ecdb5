import type { Fault } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json-value.ts'
import type { Ledger } from '../ledger.ts'

/** Texts of which the vectors are wanted, whatever the format. */
export interface EmbeddingRequest {
  inputs: readonly string[]
  /** null: as the model gives them. */
  dimensions: number | null
  /** How the client wants them: Gemini's `embedContent` answers with one, OpenAI's clients may want base64. */
  shape: 'floats' | 'base64' | 'single'
}

export interface EmbeddingReply {
  vectors: readonly (readonly number[])[]
  /** As the provider names it; null: it does not. */
  model: string | null
}

/** What the client is told besides the vectors. */
export interface EmbeddingContext {
  model: string
  inputTokens: number
}

/** One of the two formats in which models are asked for vectors. All of it is pure. */
export interface EmbeddingCodec {
  /** A fault: `invalid_request`. What the other format has no place for goes to the ledger. */
  readRequest(body: JsonObject, ledger: Ledger): EmbeddingRequest | Fault
  writeRequest(request: EmbeddingRequest, model: string): JsonObject
  /** null: it is no answer. */
  readReply(body: JsonObject): EmbeddingReply | null
  writeReply(reply: EmbeddingReply, request: EmbeddingRequest, context: EmbeddingContext): JsonObject
}
