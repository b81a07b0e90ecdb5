import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { writeSnippets } from '../../../src/console/app/areas/keys/key-snippets.ts'

const models = { openai: ['gpt-4o-mini'], anthropic: ['claude-sonnet'], gemini: ['gemini-flash'] }
const input = { gatewayUrl: 'http://127.0.0.1:8787/', key: 'sp_live_abc', models }
const codeOf = (title: string, more: Partial<typeof input> = {}) =>
  writeSnippets({ ...input, ...more }).find((snippet) => snippet.title === title)?.code ?? ''

describe('snippets of a key', () => {
  it('all carry the base URL, the key and a model of their lane', () => {
    for (const { title, code } of writeSnippets(input)) {
      expect(code, title).toContain('http://127.0.0.1:8787/v1')
      expect(code, title).toContain('sp_live_abc')
      expect(code, title).toMatch(/gpt-4o-mini|claude-sonnet|gemini-flash/)
      expect(code, title).not.toContain('8787//')
    }
  })

  it('call the lane that has a model, with curl too', () => {
    expect(codeOf('curl')).toContain('/v1/chat/completions')
    expect(codeOf('curl', { models: { ...models, openai: [] } })).toContain('/v1/anthropic/v1/messages')
    const onlyGemini = { openai: [], anthropic: [], gemini: ['g'] }
    expect(codeOf('curl', { models: onlyGemini })).toContain('/v1/gemini/v1beta/models/g:generateContent')
  })

  it('say MODEL where nothing is served, and stand in for a key that is known no more', () => {
    const none = { openai: [], anthropic: [], gemini: [] }
    expect(codeOf('curl', { models: none })).toContain('"model":"MODEL"')
    expect(writeSnippets({ ...input, key: null })[0]?.code).toContain('sp_live_…')
  })

  it('hold a model with quotes in it as text, for shells and for languages', () => {
    const odd = { ...models, openai: ['it\'s $(id) "x" `y`'] }
    const code = codeOf('curl', { models: odd })
    const shown = execFileSync('sh', ['-c', code.replace(/^curl/, 'printf "%s\\n"')], { encoding: 'utf8' })
    expect(shown).toContain(JSON.stringify(odd.openai[0]).slice(1, -1))
    expect(codeOf('OpenAI Python', { models: odd })).toContain(JSON.stringify(odd.openai[0]))
  })
})
