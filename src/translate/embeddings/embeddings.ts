import type { Fault } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import type { Ledger } from '../ledger.ts'

/** Texts to embed, whatever the format. */
export interface EmbeddingRequest {
  inputs: readonly string[]
  /** null: the model's default. */
  dimensions: number | null
  /** The form that the client wants: Gemini's `embedContent` returns a single vector, OpenAI's clients may want base64. */
  shape: 'floats' | 'base64' | 'single'
}

export interface EmbeddingReply {
  vectors: readonly (readonly number[])[]
  /** The model as the provider names it; null: it does not. */
  model: string | null
}

/** What an answer says besides the vectors. */
export interface EmbeddingContext {
  model: string
  inputTokens: number
}

/** One of the two formats for embeddings. Pure. */
export interface EmbeddingCodec {
  /** A fault: `invalid_request`. What the other format cannot carry goes to the ledger. */
  readRequest(body: JsonObject, ledger: Ledger): EmbeddingRequest | Fault
  writeRequest(request: EmbeddingRequest, model: string): JsonObject
  /** null: not a valid answer. */
  readReply(body: JsonObject): EmbeddingReply | null
  writeReply(reply: EmbeddingReply, request: EmbeddingRequest, context: EmbeddingContext): JsonObject
}
