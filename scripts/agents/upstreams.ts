import type { FormatName } from '../../src/core/format.ts'
import { chatProvider } from '../../test/support/matrix/providers/chat.ts'
import { generateProvider } from '../../test/support/matrix/providers/generate.ts'
import { messagesProvider } from '../../test/support/matrix/providers/messages.ts'
import type { SceneProvider } from '../../test/support/matrix/providers/provider.ts'
import { responsesProvider } from '../../test/support/matrix/providers/responses.ts'
import { mockAnthropic } from '../../test/support/mock-anthropic.ts'
import type { MockFormat } from '../../test/support/mock-format.ts'
import { mockGemini } from '../../test/support/mock-gemini.ts'
import { mockOpenai } from '../../test/support/mock-openai.ts'

/** Where the model is, and how it is asked. */
export interface Upstream {
  format: FormatName
  kind: 'openai' | 'anthropic' | 'gemini' | 'openai-compatible'
  /** Its route has the same name. */
  model: string
  provider: SceneProvider
  mock: MockFormat
}

export const upstreams: readonly Upstream[] = [
  { format: 'chat', kind: 'openai', model: 'gpt-5.2', provider: chatProvider, mock: mockOpenai },
  { format: 'chat', kind: 'openai-compatible', model: 'qwen3-max', provider: chatProvider, mock: mockOpenai },
  { format: 'responses', kind: 'openai', model: 'gpt-5.1', provider: responsesProvider, mock: mockOpenai },
  { format: 'messages', kind: 'anthropic', model: 'claude-opus-4-8', provider: messagesProvider, mock: mockAnthropic },
  { format: 'generate', kind: 'gemini', model: 'gemini-3.1-pro-preview', provider: generateProvider, mock: mockGemini },
]
