import { asPositiveCount, asString, type JsonObject } from '../../core/json/json-value.ts'
import { answerJson, type DemoAnswer, demoId } from './answer.ts'
import { countTokens, readText } from './reply.ts'
import { embedText } from './vector.ts'

/** `POST /embeddings`: floats, or base64 of little-endian float32 (what the SDKs ask for unasked). */
export function answerEmbeddings(body: JsonObject, model: string): DemoAnswer {
  const inputs = readInputs(body.input)
  const base64 = asString(body.encoding_format) === 'base64'
  const data = inputs.map((input, index) => {
    const vector = embedText(input, asPositiveCount(body.dimensions))
    const embedding = base64 ? Buffer.from(vector.buffer).toString('base64') : [...vector]
    return { object: 'embedding', index, embedding }
  })
  const tokens = inputs.reduce((sum, input) => sum + countTokens(input), 0)
  return answerJson(200, { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } })
}

/** Text, a list of texts, token numbers, or a list of those. */
function readInputs(input: unknown): string[] {
  if (!Array.isArray(input)) return [readText(input)]
  if (typeof input[0] === 'number') return [input.join(' ')]
  return input.map((entry) => (Array.isArray(entry) ? entry.join(' ') : readText(entry) || readText([entry])))
}

const categories = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/instructions',
  'self-harm/intent',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
]

/** `POST /moderations`: nothing is ever flagged. Several inputs give one result each; several parts are one input. */
export function answerModeration(body: JsonObject, model: string): DemoAnswer {
  const several = Array.isArray(body.input) && typeof body.input[0] === 'string' ? body.input.length : 1
  const result = {
    flagged: false,
    categories: Object.fromEntries(categories.map((name) => [name, false])),
    category_scores: Object.fromEntries(categories.map((name) => [name, 0.0001])),
    category_applied_input_types: Object.fromEntries(categories.map((name) => [name, ['text']])),
  }
  return answerJson(200, { id: demoId('modr-'), model, results: Array.from({ length: several }, () => result) })
}
