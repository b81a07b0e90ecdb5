import { asArray, asObject, asString, type JsonObject } from '../../core/json/json-value.ts'
import type { Ledger } from '../ledger.ts'
import { orFault, RequestError } from '../request-fault.ts'
import { findSeen } from '../seen-fields.ts'
import type { EmbeddingCodec, EmbeddingRequest } from './embeddings.ts'
import { geminiEmbeddingFields } from './fields.ts'
import { readVector } from './vectors.ts'

/** Gemini's `embedContent` and `batchEmbedContents`. */
export const geminiEmbeddings: EmbeddingCodec = {
  readRequest: (body, ledger) => orFault(() => readRequest(withCamelCase(body), ledger)),
  writeRequest: ({ inputs, dimensions }, model) => ({
    requests: inputs.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...(dimensions !== null && { outputDimensionality: dimensions }),
    })),
  }),
  readReply(body) {
    const vectors = asArray(body.embeddings).map((each) => readVector(asObject(each)?.values))
    return vectors.length > 0 && vectors.every((vector) => vector !== null) ? { vectors, model: null } : null
  },
  writeReply({ vectors }, { shape }, { inputTokens }) {
    const embeddings = vectors.map((values) => ({ values }))
    const usageMetadata = { promptTokenCount: inputTokens, totalTokenCount: inputTokens }
    return shape === 'single' ? { embedding: embeddings[0], usageMetadata } : { embeddings, usageMetadata }
  },
}

function readRequest(body: JsonObject, ledger: Ledger): EmbeddingRequest {
  for (const { path } of findSeen(body, geminiEmbeddingFields)) if (!isInPart(path)) ledger.lose(path)
  const isBatch = body.requests !== undefined
  const requests = isBatch ? asArray(body.requests) : [body]
  if (requests.length === 0) throw new RequestError('requests', 'is empty')
  const inputs = requests.map((each, place) => readText(asObject(each), isBatch ? `requests[${place}].` : '', ledger))
  const dimensions = new Set(requests.map((each) => asObject(each)?.outputDimensionality ?? null))
  if (dimensions.size > 1)
    ledger.refuse('requests', 'outputDimensionality differs among the requests, and the provider has one for all')
  const [wanted] = dimensions
  return { inputs, dimensions: typeof wanted === 'number' ? wanted : null, shape: isBatch ? 'floats' : 'single' }
}

/** Reported by `readText` as a part that cannot be translated. */
function isInPart(path: string): boolean {
  return /(?:^|\.)content\.parts\[/.test(path)
}

/** The texts of one content become one vector. */
function readText(request: JsonObject | null, prefix: string, ledger: Ledger): string {
  const parts = asArray(asObject(request?.content)?.parts).map(asObject)
  if (parts.length === 0) throw new RequestError(`${prefix}content`, 'has no parts')
  const texts = parts.map((part, place) => {
    const { text } = part ?? {}
    if (typeof text !== 'string')
      ledger.refuse(`${prefix}content.parts[${place}]`, 'a part is not text, and the provider embeds nothing else')
    return asString(text)
  })
  if (texts.length > 1) ledger.lose(`${prefix}content.parts`)
  return texts.join('\n')
}

/** Gemini accepts both spellings; members nested deeper have only one. */
function withCamelCase(body: JsonObject): JsonObject {
  const written = Object.entries(body).map(([name, value]): [string, unknown] => {
    const camel = names.get(name) ?? name
    return [camel, camel === 'requests' ? asArray(value).map((each) => withCamelCase(asObject(each) ?? {})) : value]
  })
  return Object.fromEntries(written)
}

const names = new Map([
  ['task_type', 'taskType'],
  ['output_dimensionality', 'outputDimensionality'],
])
