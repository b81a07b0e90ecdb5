import { asArray, asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { Ledger } from '../ledger.ts'
import { orFault, RequestError } from '../request-fault.ts'
import { findSeen } from '../seen-fields.ts'
import type { EmbeddingCodec, EmbeddingRequest } from './embeddings.ts'
import { openaiEmbeddingFields } from './fields.ts'
import { encodeVector, readVector, toUnitLength } from './vectors.ts'

/** OpenAI's `/embeddings`. */
export const openaiEmbeddings: EmbeddingCodec = {
  readRequest: (body, ledger) => orFault(() => readRequest(body, ledger)),
  // Every server returns floats by default.
  writeRequest: ({ inputs, dimensions }, model) => ({
    model,
    input: inputs,
    ...(dimensions !== null && { dimensions }),
  }),
  readReply(body) {
    const entries = asArray(body.data).map(asObject)
    const vectors = entries.map((entry) => readVector(entry?.embedding))
    if (vectors.length === 0 || !vectors.every((vector) => vector !== null)) return null
    const order = entries.map((entry, place) => (typeof entry?.index === 'number' ? entry.index : place))
    const sorted = vectors
      .map((vector, place) => ({ vector, at: order[place] ?? place }))
      .sort((one, other) => one.at - other.at)
    return { vectors: sorted.map(({ vector }) => vector), model: asText(body.model) }
  },
  writeReply: ({ vectors, model }, { shape }, context) => ({
    object: 'list',
    data: vectors.map((vector, index) => {
      const unit = toUnitLength(vector)
      return { object: 'embedding', index, embedding: shape === 'base64' ? encodeVector(unit) : unit }
    }),
    model: model ?? context.model,
    usage: { prompt_tokens: context.inputTokens, total_tokens: context.inputTokens },
  }),
}

function readRequest(body: JsonObject, ledger: Ledger): EmbeddingRequest {
  for (const { path } of findSeen(body, openaiEmbeddingFields)) ledger.lose(path)
  const { dimensions, encoding_format: encoding } = body
  if (encoding !== undefined && encoding !== null && encoding !== 'float' && encoding !== 'base64')
    throw new RequestError('encoding_format', 'is neither `float` nor `base64`')
  if (dimensions !== undefined && dimensions !== null && (!Number.isSafeInteger(dimensions) || Number(dimensions) < 1))
    throw new RequestError('dimensions', 'is not a positive whole number')
  return {
    inputs: readInputs(body.input, ledger),
    dimensions: typeof dimensions === 'number' ? dimensions : null,
    shape: encoding === 'base64' ? 'base64' : 'floats',
  }
}

function readInputs(input: unknown, ledger: Ledger): string[] {
  const list = Array.isArray(input) ? input : [input]
  if (list.length === 0 || input === undefined || input === null) throw new RequestError('input', 'is missing or empty')
  if (list.some((each) => typeof each === 'number' || Array.isArray(each)))
    ledger.refuse('input', 'input holds tokens, which only the tokenizer of its own model can read; send texts')
  return list.map((each, place) => {
    if (typeof each === 'string' && each !== '') return each
    if (typeof each === 'number' || Array.isArray(each)) return ''
    throw new RequestError(Array.isArray(input) ? `input[${place}]` : 'input', 'is not text, or is empty')
  })
}
