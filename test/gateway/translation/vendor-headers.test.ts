import { describe, expect, it } from 'vitest'
import { lostHeaders, neutralHeaders } from '../../../src/gateway/translation/vendor-headers.ts'

const claudeCode = [
  ...['Anthropic-Version', '2023-06-01', 'X-App', 'cli', 'X-Stainless-Lang', 'js'],
  ...[
    'Anthropic-Beta',
    'claude-code-20250219,redact-thinking-2026-02-12,interleaved-thinking-2025-05-14, context-1m-2025-08-07',
  ],
  ...['User-Agent', 'claude-cli/2.0', 'Anthropic-Beta', 'telepathy-2027-01-01'],
]
const lost = ['headers.anthropic-beta.context-1m-2025-08-07', 'headers.anthropic-beta.telepathy-2027-01-01']
const gemini = ['x-goog-api-client', 'gl-node/26', 'x-goog-quota', 'a', 'x-goog-user-project', 'p']
const openai = [
  'OpenAI-Beta',
  'responses=experimental',
  'OpenAI-Intent',
  'conversation-panel',
  'OpenAI-Organization',
  'org-1',
  'OpenAI-Beta',
  'trance=v1',
]

describe("the client's own vendor's headers, at another vendor's provider", () => {
  it('stay away, and what they ask for is listed', () => {
    expect(neutralHeaders(claudeCode, 'chat')).toEqual(['user-agent', 'claude-cli/2.0'])
    expect(lostHeaders(claudeCode, 'chat')).toEqual(lost)
    expect(lostHeaders(gemini, 'messages')).toEqual(['headers.x-goog-quota'])
    expect(lostHeaders(openai, 'generate')).toEqual(['headers.openai-beta.trance=v1'])
    expect(neutralHeaders([...gemini, ...openai], 'messages')).toEqual([])
  })

  it("go up where they are of the provider's vendor", () => {
    const beta = ['anthropic-beta', 'context-1m-2025-08-07']
    expect(neutralHeaders([...openai, ...beta], 'messages')).toEqual(beta)
    expect(lostHeaders([...openai, ...beta], 'messages')).toEqual(['headers.openai-beta.trance=v1'])
    expect(lostHeaders(openai, 'responses')).toEqual([])
  })
})
