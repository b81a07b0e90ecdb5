import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import { type RecordingFetch, recordingFetch } from '../support/recording-fetch.ts'
import { type Stage, setStage, stageModels } from '../support/stage.ts'

const mail = 'jane@example.com'
const secret = 'sk-proj-Abc123Def456Ghi789'
const prompt = `Write to ${mail}, please.`

let stage: Stage
let wire: RecordingFetch
/** By policy. */
const keys: Record<string, string> = {}

beforeAll(async () => {
  stage = await setStage()
  wire = recordingFetch()
  // Google's SDK takes no fetch of its own.
  vi.stubGlobal('fetch', wire.fetch)
  const { admin } = stage.gateway
  const rule = { name: 'rule', on: ['answer'] }
  const policies = {
    returns: [{ name: 'mail', detector: 'email-addresses', action: 'redact', on: ['prompt'], reversible: true }],
    masks: [{ ...rule, detector: 'secrets', action: 'redact' }],
    blocks: [{ ...rule, detector: 'secrets', action: 'block' }],
    patterns: [{ ...rule, pattern: 'sk-proj-\\w+', action: 'block' }],
  }
  for (const model of Object.values(stageModels)) await admin.prices.set({ model, input: 1, output: 2 })
  keys.none = stage.key
  for (const [name, rules] of Object.entries(policies)) {
    await admin.policies.add({ name, contentRules: { 'rules.json': JSON.stringify({ rules }) } })
    keys[name] = (await stage.gateway.createKey(name, { policy: name })).key
  }
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await stage.close()
})

/** One way to ask with an SDK; gives the text and the arguments of tools as the SDK put them together. */
interface Way {
  lane: LaneName
  streamed: boolean
  tool: boolean
  ask(key: string): Promise<string>
}

const openai = (key: string) =>
  new OpenAI({ apiKey: key, baseURL: `${stage.gateway.baseUrl}/v1`, fetch: wire.fetch, maxRetries: 0 })
const anthropic = (apiKey: string) =>
  new Anthropic({ apiKey, baseURL: `${stage.gateway.baseUrl}/v1/anthropic`, fetch: wire.fetch, maxRetries: 0 })
const gemini = (apiKey: string) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `${stage.gateway.baseUrl}/v1/gemini` } }).models

const messages = [{ role: 'user' as const, content: prompt }]
const chat = { model: stageModels.openai, messages }
const chatTools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
const message = { model: stageModels.anthropic, max_tokens: 64, messages }
const messageTools = [{ name: 'look', input_schema: { type: 'object' as const } }]
const contents = { model: stageModels.gemini, contents: prompt }
const contentTools = { config: { tools: [{ functionDeclarations: [{ name: 'look' }] }] } }
const calledWith = (completion: OpenAI.Chat.ChatCompletion) => {
  const call = completion.choices[0]?.message.tool_calls?.[0]
  return call?.type === 'function' ? call.function.arguments : ''
}
const inputOf = ({ content }: Anthropic.Message) =>
  JSON.stringify(content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : [])))
const textOf = ({ content }: Anthropic.Message) =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

const ways: Record<string, Way> = {
  chat: {
    ...{ lane: 'openai', streamed: false, tool: false },
    ask: async (key) => (await openai(key).chat.completions.create(chat)).choices[0]?.message.content ?? '',
  },
  'chat, streamed': {
    ...{ lane: 'openai', streamed: true, tool: false },
    ask: async (key) => {
      const final = await openai(key).chat.completions.stream(chat).finalChatCompletion()
      return final.choices[0]?.message.content ?? ''
    },
  },
  'chat with a tool': {
    ...{ lane: 'openai', streamed: false, tool: true },
    ask: async (key) => calledWith(await openai(key).chat.completions.create({ ...chat, tools: chatTools })),
  },
  'chat with a tool, streamed': {
    ...{ lane: 'openai', streamed: true, tool: true },
    ask: async (key) =>
      calledWith(
        await openai(key)
          .chat.completions.stream({ ...chat, tools: chatTools })
          .finalChatCompletion(),
      ),
  },
  responses: {
    ...{ lane: 'openai', streamed: false, tool: false },
    ask: async (key) => (await openai(key).responses.create({ model: chat.model, input: prompt })).output_text,
  },
  'responses, streamed': {
    ...{ lane: 'openai', streamed: true, tool: false },
    ask: async (key) => {
      const stream = openai(key).responses.stream({ model: chat.model, input: prompt })
      const deltas: string[] = []
      stream.on('response.output_text.delta', ({ delta }) => deltas.push(delta))
      const { output_text, error } = await stream.finalResponse()
      // It is no exception here, but how the response ended.
      if (error !== null) throw new Error(error.message)
      expect(deltas.join('')).toBe(output_text)
      return output_text
    },
  },
  messages: {
    ...{ lane: 'anthropic', streamed: false, tool: false },
    ask: async (key) => textOf(await anthropic(key).messages.create(message)),
  },
  'messages, streamed': {
    ...{ lane: 'anthropic', streamed: true, tool: false },
    ask: async (key) => textOf(await anthropic(key).messages.stream(message).finalMessage()),
  },
  'messages with a tool': {
    ...{ lane: 'anthropic', streamed: false, tool: true },
    ask: async (key) => inputOf(await anthropic(key).messages.create({ ...message, tools: messageTools })),
  },
  'messages with a tool, streamed': {
    ...{ lane: 'anthropic', streamed: true, tool: true },
    ask: async (key) =>
      inputOf(
        await anthropic(key)
          .messages.stream({ ...message, tools: messageTools })
          .finalMessage(),
      ),
  },
  generate: {
    ...{ lane: 'gemini', streamed: false, tool: false },
    ask: async (key) => (await gemini(key).generateContent(contents)).text ?? '',
  },
  'generate, streamed': {
    ...{ lane: 'gemini', streamed: true, tool: false },
    ask: async (key) => {
      let text = ''
      for await (const chunk of await gemini(key).generateContentStream(contents)) text += chunk.text ?? ''
      return text
    },
  },
  'generate with a tool': {
    ...{ lane: 'gemini', streamed: false, tool: true },
    ask: async (key) => {
      const { functionCalls } = await gemini(key).generateContent({ ...contents, ...contentTools })
      return JSON.stringify(functionCalls?.[0]?.args)
    },
  },
}

/** The way's own answer with other words: where it is streamed, they are cut in the middle. */
async function script({ lane, ask, streamed }: Way, first: string, second: string): Promise<void> {
  const mock = stage.mocks[lane]
  await ask(keys.none ?? '')
  const parts = mock.last.answer.parts.map((part) =>
    part
      .toString()
      .replaceAll('Hello', first)
      .replaceAll(' from \\"the mock\\",\\n', second)
      .replaceAll('the sky', first + second),
  )
  mock.next(streamed ? { events: parts } : { body: parts.join('') })
}

async function expectCharged(lane: LaneName, code: string | null) {
  const record = await stage.gateway.record(wire.last().headers.get('x-sp-request-id') ?? '')
  expect(record).toMatchObject({ state: 'settled', lane, error: code === null ? null : { code } })
  const { input, output } = stage.mocks[lane].usage
  expect(record.tokens).toMatchObject({ input, output })
  expect(record.cost?.usd).toBeGreaterThan(0)
  stage.assertClean()
}

describe.each(Object.entries(ways))('%s', (_name, way) => {
  const { lane, tool, streamed, ask } = way

  it('hides an address from the provider, and gives it back in the answer', async () => {
    await script(way, 'To [EMA', 'IL_1] now. ')
    const said = await ask(keys.returns ?? '')
    const sent = stage.mocks[lane].last.body.toString()
    expect(sent).toContain('Write to [EMAIL_1], please.')
    expect(sent).not.toContain(mail)
    expect(said).toContain(`To ${mail} now. `)
    await expectCharged(lane, null)
  })

  it('masks a secret in the answer', async () => {
    await script(way, 'It is sk-proj-Abc123', 'Def456Ghi789, as asked. ')
    const said = await ask(keys.masks ?? '')
    expect(said).toContain('It is [KEY_1], as asked. ')
    expect((await wire.last().body).toString()).not.toContain('sk-proj')
    if (!tool) expect(said).toContain('Grüße, 世界')
    await expectCharged(lane, null)
  })

  it.each(['blocks', 'patterns'])(
    'ends with an error that the SDK understands where a secret is blocked: %s',
    async (name) => {
      await script(way, 'It is sk-proj-Abc123', 'Def456Ghi789, as asked. ')
      const failure = await ask(keys[name] ?? '').catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(Error)
      expect(String(failure)).toContain('The content rule rule of the policy')
      // The SDK for chats stops reading as soon as it has an error.
      const received = String(await wire.last().body.catch(() => failure))
      expect(received).not.toContain('sk-proj')
      expect(received).not.toContain(secret.slice(-9))
      expect(wire.last().status).toBe(streamed ? 200 : 403)
      await expectCharged(lane, 'policy_denied')
    },
  )
})
