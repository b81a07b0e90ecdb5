import { type Fault, fault } from '../../core/errors.ts'
import type { FormatName } from '../../core/format.ts'
import { type JsonObject, parseObject } from '../../core/json/json-value.ts'
import { Ledger } from '../ledger.ts'
import type { EmbeddingCodec, EmbeddingRequest } from './embeddings.ts'
import { geminiEmbeddings } from './gemini.ts'
import { openaiEmbeddings } from './openai.ts'

/** By the lane's usual format. */
export function embeddingCodec(format: FormatName): EmbeddingCodec {
  return format === 'generate' ? geminiEmbeddings : openaiEmbeddings
}

export interface WrittenEmbeddings {
  body: JsonObject
  request: EmbeddingRequest
  /** Paths in the client's body. */
  losses: readonly string[]
}

/** A request for embeddings in the provider's format. A fault: the provider cannot serve it. */
export function writeEmbeddings(
  bytes: Buffer,
  { from, to }: { from: FormatName; to: FormatName },
  { model, strict }: { model: string; strict: boolean },
): WrittenEmbeddings | Fault {
  const body = parseObject(bytes)
  if (body === null) return fault('invalid_request', 'The request body is not a JSON object.')
  const ledger = new Ledger(from, to, strict)
  const request = embeddingCodec(from).readRequest(body, ledger)
  if ('code' in request) return request
  if (ledger.refused !== null) return ledger.refused
  return { body: embeddingCodec(to).writeRequest(request, model), request, losses: ledger.losses }
}
