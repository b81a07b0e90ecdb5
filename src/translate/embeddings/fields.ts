import { type FieldTable, ignored, mapped, typed } from '../field-table.ts'

const vendors = 'only Gemini knows it'

/** Every member of an OpenAI `/embeddings` request, and what becomes of it at Gemini. */
export const openaiEmbeddingFields = {
  model: mapped,
  input: {
    otherwise: 'mapped',
    why: 'texts; lists of tokens are refused, which only the own tokenizer of a model can read',
    type: '',
  },
  dimensions: mapped,
  encoding_format: mapped,
  user: ignored,
} satisfies FieldTable

/** Members of a request for one vector. */
const single = {
  model: mapped,
  content: typed('o'),
  'content.role': ignored,
  'content.parts': mapped,
  'content.parts.text': mapped,
  taskType: { otherwise: 'dropped', why: vendors },
  title: { otherwise: 'dropped', why: vendors },
  outputDimensionality: { otherwise: 'mapped', why: 'the same for all texts of a request, else it is refused' },
} satisfies FieldTable

type Batched = { [Name in keyof typeof single as `requests.${Name}`]: (typeof single)[Name] }

/** The same for Gemini's `embedContent` and `batchEmbedContents` at OpenAI. */
export const geminiEmbeddingFields = {
  ...single,
  requests: mapped,
  ...(Object.fromEntries(Object.entries(single).map(([name, row]) => [`requests.${name}`, row])) as Batched),
} satisfies FieldTable
