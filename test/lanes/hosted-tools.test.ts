import { describe, expect, it } from 'vitest'
import type { LaneName } from '../../src/core/lane.ts'
import { usesHostedTools } from '../../src/lanes/hosted-tools.ts'

const cases: [lane: LaneName, hosted: boolean, body: object][] = [
  ['openai', false, { messages: [] }],
  ['openai', false, { tools: [] }],
  ['openai', false, { tools: null }],
  [
    'openai',
    false,
    {
      tools: [
        { type: 'function', function: { name: 'f' } },
        { type: 'custom', name: 'c' },
      ],
    },
  ],
  ['openai', true, { tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }] }],
  ['openai', true, { tools: [{ type: 'mcp', server_url: 'https://x' }] }],
  ['openai', true, { tools: [{}] }],
  ['openai', true, { web_search_options: {} }],
  [
    'anthropic',
    false,
    {
      tools: [
        { name: 'f', input_schema: {} },
        { type: 'custom', name: 'c' },
      ],
    },
  ],
  ['anthropic', false, { tools: [{ type: 'text_editor_20250728', name: 'e' }, { type: 'bash_20250124' }] }],
  ['anthropic', true, { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['anthropic', true, { mcp_servers: [{ url: 'https://x' }] }],
  ['gemini', false, { tools: [{ functionDeclarations: [{ name: 'f' }] }] }],
  ['gemini', true, { tools: [{ googleSearch: {} }] }],
  ['gemini', true, { tools: [{ functionDeclarations: [], codeExecution: {} }] }],
  ['gemini', true, { tools: 'all' }],
]

describe('tools that the provider runs', () => {
  it.each(cases)('%s: %s for %j', (lane, hosted, body) => {
    expect(usesHostedTools(lane, Buffer.from(JSON.stringify(body)))).toBe(hosted)
  })
})
