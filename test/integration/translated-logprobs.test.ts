import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Stage, setStage } from '../support/stage.ts'

/** A token, its logarithm, and the one that was as likely. */
type Token = [token: string, logprob: number, other: string]
const tokens: readonly Token[] = [
  ['Hé', -0.5, 'Hi'],
  ['!', -0.125, '?'],
]

const models = { chat: 'gpt-4o', responses: 'gpt-4.1', generate: 'gemini-2.5-flash' } as const
type Format = keyof typeof models

let stage: Stage
let openai: OpenAI
let google: GoogleGenAI

beforeAll(async () => {
  stage = await setStage()
  const { gateway, key } = stage
  await gateway.addRoute(models.chat, ['openai:gpt-4o,format=chat'])
  await gateway.addRoute(models.responses, ['openai:gpt-4.1,format=responses'])
  await gateway.addRoute(models.generate, ['gemini'])
  openai = new OpenAI({ apiKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
  const httpOptions = { baseUrl: `${gateway.baseUrl}/v1/gemini`, retryOptions: { attempts: 1 } }
  google = new GoogleGenAI({ apiKey: key, httpOptions })
})
afterAll(() => stage.close())
afterEach(() => stage.assertClean())

const openaiToken = ([token, logprob, other]: Token) => ({
  ...{ token, logprob, bytes: [...Buffer.from(token)] },
  top_logprobs: [{ token: other, logprob: logprob - 1, bytes: [...Buffer.from(other)] }],
})
const googleTokens = (some: readonly Token[]) => ({
  chosenCandidates: some.map(([token, logProbability]) => ({ token, logProbability })),
  topCandidates: some.map(([, logprob, token]) => ({ candidates: [{ token, logProbability: logprob - 1 }] })),
})
const text = tokens.map(([token]) => token).join('')
const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
const unnamed = (data: object) => `data: ${JSON.stringify(data)}\n\n`

/** What the provider says, whole and as events, each token in one of its own. */
const said: Record<Format, { whole: object; events: string[] }> = {
  chat: {
    whole: {
      ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: models.chat },
      choices: [
        {
          ...{ index: 0, message: { role: 'assistant', content: text, refusal: null }, finish_reason: 'stop' },
          logprobs: { content: tokens.map(openaiToken), refusal: null },
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    },
    events: [
      ...tokens.map((token) =>
        chatChunk({ content: token[0] }, null, { content: [openaiToken(token)], refusal: null }),
      ),
      chatChunk({}, 'stop', null),
      'data: [DONE]\n\n',
    ],
  },
  responses: { whole: response('completed'), events: responseEvents() },
  generate: {
    whole: {
      candidates: [
        {
          ...{ content: { parts: [{ text }], role: 'model' }, finishReason: 'STOP', index: 0 },
          logprobsResult: googleTokens(tokens),
        },
      ],
      ...{ modelVersion: models.generate, responseId: 'r1' },
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    },
    events: tokens.map((token, index) =>
      unnamed({
        candidates: [
          {
            ...{ content: { parts: [{ text: token[0] }], role: 'model' }, index: 0 },
            ...{ logprobsResult: googleTokens([token]), ...(index === 1 && { finishReason: 'STOP' }) },
          },
        ],
        ...{ modelVersion: models.generate, responseId: 'r1' },
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      }),
    ),
  },
}

function chatChunk(delta: object, finish: string | null, logprobs: object | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish, logprobs }]
  return unnamed({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: models.chat, choices })
}

function response(status: string) {
  const part = { type: 'output_text', text, annotations: [], logprobs: tokens.map(openaiToken) }
  return {
    ...{ id: 'resp_1', object: 'response', created_at: 1, status, model: models.responses, error: null },
    output: [{ id: 'msg_1', type: 'message', status, role: 'assistant', content: [part] }],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  }
}

function responseEvents(): string[] {
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const empty = { type: 'output_text', text: '', annotations: [], logprobs: [] }
  const item = { id: 'msg_1', type: 'message', role: 'assistant' }
  const last = response('completed')
  return [
    event('response.created', { sequence_number: 0, response: { ...last, status: 'in_progress', output: [] } }),
    event('response.output_item.added', {
      ...{ sequence_number: 1, output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
    }),
    event('response.content_part.added', { sequence_number: 2, ...place, part: empty }),
    ...tokens.map((token, index) =>
      event('response.output_text.delta', {
        ...{ sequence_number: 3 + index, ...place, delta: token[0], logprobs: [openaiToken(token)] },
      }),
    ),
    event('response.output_text.done', {
      ...{ sequence_number: 5, ...place, text, logprobs: tokens.map(openaiToken) },
    }),
    event('response.output_item.done', { sequence_number: 6, output_index: 0, item: last.output[0] }),
    event('response.completed', { sequence_number: 7, response: last }),
  ]
}

interface OpenaiToken {
  token: string
  logprob: number
  top_logprobs?: readonly { token: string; logprob?: number }[]
}

const readOpenai = (read: readonly OpenaiToken[] | null | undefined): Token[] =>
  (read ?? []).map(({ token, logprob, top_logprobs }) => [token, logprob, top_logprobs?.[0]?.token ?? ''])

/** What a client's SDK reads. */
const clients: Record<Format, (model: string, stream: boolean) => Promise<Token[]>> = {
  async chat(model, stream) {
    const body = { model, messages: [{ role: 'user' as const, content: 'Hi' }], logprobs: true, top_logprobs: 1 }
    const { choices } = stream
      ? await openai.chat.completions.stream(body).finalChatCompletion()
      : await openai.chat.completions.create(body)
    return readOpenai(choices[0]?.logprobs?.content)
  },
  async responses(model, stream) {
    const include = ['message.output_text.logprobs' as const]
    const body = { model, input: 'Hi', include, top_logprobs: 1 }
    const { output } = stream
      ? await openai.responses.stream(body).finalResponse()
      : await openai.responses.create(body)
    const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []))
    return parts.flatMap((part) => (part.type === 'output_text' ? readOpenai(part.logprobs) : []))
  },
  async generate(model, stream) {
    const body = { model, contents: 'Hi', config: { responseLogprobs: true, logprobs: 1 } }
    const answers = []
    if (stream) for await (const chunk of await google.models.generateContentStream(body)) answers.push(chunk)
    else answers.push(await google.models.generateContent(body))
    return answers.flatMap(({ candidates }) => {
      const { chosenCandidates = [], topCandidates = [] } = candidates?.[0]?.logprobsResult ?? {}
      return chosenCandidates.map(({ token = '', logProbability = 0 }, index): Token => {
        const [other] = topCandidates[index]?.candidates ?? []
        return [token, logProbability, other?.token ?? '']
      })
    })
  },
}

const formats = Object.keys(models) as Format[]
const pairs = formats.flatMap((from) => formats.filter((to) => to !== from).map((to) => [from, to] as const))

describe.each(pairs)('probabilities of tokens for a %s client of a %s provider', (from, to) => {
  it.each([false, true])('come as they were (streamed: %s)', async (stream) => {
    const mock = to === 'generate' ? stage.mocks.gemini : stage.mocks.openai
    const { whole, events } = said[to]
    mock.next(stream ? { events } : { body: JSON.stringify(whole) })
    expect(await clients[from](models[to], stream)).toEqual(tokens)
  })
})
