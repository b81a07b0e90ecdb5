import { describe, expect, it } from 'vitest'
import { suggestPath } from '../../src/lanes/index.ts'

describe('the path that a client with a wrong base URL wants', () => {
  it.each([
    ['POST', '/chat/completions', '/v1/chat/completions'],
    ['POST', '/v1/v1/chat/completions', '/v1/chat/completions'],
    ['POST', '/v1/openai/v1/chat/completions', '/v1/chat/completions'],
    ['POST', '/v1/anthropic/v1/chat/completions', '/v1/chat/completions'],
    ['POST', '/v1/messages', '/v1/anthropic/v1/messages'],
    ['POST', '/anthropic/v1/messages', '/v1/anthropic/v1/messages'],
    ['POST', '/v1/anthropic/messages', '/v1/anthropic/v1/messages'],
    ['POST', '/v1/anthropic/v1/v1/messages/count_tokens', '/v1/anthropic/v1/messages/count_tokens'],
    ['POST', '/v1beta/models/gemini-3:generateContent', '/v1/gemini/v1beta/models/gemini-3:generateContent'],
    ['POST', '/v1/gemini/models/a/b:streamGenerateContent', '/v1/gemini/v1beta/models/a/b:streamGenerateContent'],
    ['POST', '/v1/gemini/v1beta/v1beta/models/m:countTokens', '/v1/gemini/v1beta/models/m:countTokens'],
    ['GET', '/openai/v1/models', '/v1/models'],
  ])('%s %s: %s', (method, path, meant) => {
    expect(suggestPath(method, path)).toBe(meant)
  })

  it.each([
    ['POST', '/'],
    ['POST', '/v1'],
    ['POST', '/v1/'],
    ['GET', '/favicon.ico'],
    ['POST', '/v1/nothing/like/it'],
    ['PATCH', '/v1/chat/completions'],
    ['POST', `/v1${'/v1'.repeat(5000)}`],
  ])('%s %.40s: none', (method, path) => {
    expect(suggestPath(method, path)).toBeNull()
  })
})
