import type { FormatName } from '../../../src/core/format.ts'
import { mockAnthropic } from '../mock-anthropic.ts'
import { bedrockKey, mockBedrock, region } from '../mock-bedrock.ts'
import type { MockFormat } from '../mock-format.ts'
import { mockGemini } from '../mock-gemini.ts'
import { mockOpenai } from '../mock-openai.ts'
import { MockProvider } from '../mock-provider.ts'
import { location, MockVertex } from '../mock-vertex.ts'
import { chatProvider } from './providers/chat.ts'
import { generateProvider } from './providers/generate.ts'
import { messagesProvider } from './providers/messages.ts'
import type { SceneProvider } from './providers/provider.ts'
import { responsesProvider } from './providers/responses.ts'

/** A way in which a provider is asked: its kind, its format, and its models. */
export interface Upstream {
  name: string
  kind: string
  format: FormatName
  provider: SceneProvider
  mock: MockProvider
  credential: string
  settings: { region?: string; location?: string }
  /** `usual` is asked for what no other model is named for, `newest` for what the newest models refuse. */
  models: { usual: string; plain: string; reasoning: string; newest: string }
  /** Of calls for an answer, where others (for a token) come in between. */
  path: { path?: string }
}

export const providers: Record<FormatName, SceneProvider> = {
  chat: chatProvider,
  responses: responsesProvider,
  messages: messagesProvider,
  generate: generateProvider,
}

const gpt = { usual: 'gpt-4o', plain: 'gpt-4o', reasoning: 'gpt-5.2', newest: 'gpt-5.6-sol' }
const claude = {
  usual: 'claude-opus-4-8',
  plain: 'claude-sonnet-4-5',
  reasoning: 'claude-opus-4-8',
  newest: 'claude-sonnet-5-5',
}
const opus = 'anthropic.claude-opus-5-5-v1:0'
const onBedrock = { usual: opus, plain: 'anthropic.claude-sonnet-4-5-20250929-v1:0', reasoning: opus, newest: opus }
const gemini = { usual: 'gemini-3-pro', plain: 'gemini-3-pro', reasoning: 'gemini-3-pro', newest: 'gemini-4-argon' }
const vendor = { usual: 'qwen3-max', plain: 'qwen3-max', reasoning: 'gpt-oss-120b', newest: 'gpt-oss-120b' }

interface Row {
  name: string
  kind: string
  format: FormatName
  mock: MockFormat
  models: Upstream['models']
  credential?: string
  settings?: Upstream['settings']
}

/** The forms of the matrix, in the order of its columns. */
export async function startUpstreams(): Promise<Upstream[]> {
  const vertex = new MockVertex()
  const rows: Row[] = [
    { name: 'openai chat', kind: 'openai', format: 'chat', mock: mockOpenai, models: gpt },
    { name: 'openai responses', kind: 'openai', format: 'responses', mock: mockOpenai, models: gpt },
    { name: 'anthropic', kind: 'anthropic', format: 'messages', mock: mockAnthropic, models: claude },
    { name: 'gemini', kind: 'gemini', format: 'generate', mock: mockGemini, models: gemini },
    {
      name: 'bedrock',
      kind: 'bedrock',
      format: 'messages',
      mock: mockBedrock,
      models: onBedrock,
      credential: bedrockKey,
      settings: { region },
    },
    { name: 'vertex', kind: 'vertex', format: 'generate', mock: vertex, models: gemini, settings: { location } },
    { name: 'other vendor', kind: 'openai-compatible', format: 'chat', mock: mockOpenai, models: vendor },
  ]
  return Promise.all(
    rows.map(async ({ credential = 'sk-mock-of-the-matrix', settings = {}, mock: format, ...row }) => {
      const mock = await new MockProvider(format, credential).listen()
      const own = format === vertex ? vertex.document(mock.origin) : credential
      const path = format === vertex ? { path: 'publishers' } : {}
      return { ...row, provider: providers[row.format], mock, credential: own, settings, path }
    }),
  )
}
