import { describe, expect, it } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../src/core/json/json-value.ts'
import { request } from '../support/translate/asked.ts'
import type { RequestOptions } from '../support/translate/stage.ts'

// What the vendors answer with 400 (2026).

describe('tools', () => {
  it('LibreChat 13162, luthien-proxy PR 161: of two with one name, which OpenAI takes, others get the first', () => {
    const twin = { type: 'function', function: { name: 'look', parameters: { type: 'object', title: 'second' } } }
    for (const [format, model] of [
      ['messages', 'claude-opus-4-8'],
      ['generate', 'gemini-3-pro'],
    ] as const) {
      const { sent, losses } = to(format, { model }, { tools: [look, twin] })
      expect(JSON.stringify(sent).match(/"look"/g)).toHaveLength(1)
      expect(JSON.stringify(sent)).not.toContain('second')
      expect(losses).toEqual(['tools[1]'])
    }
  })

  it('python-genai 867: beside an answer in JSON, models before Gemini 3 refuse them', () => {
    const more = { tools: [look], response_format: { type: 'json_object' } }
    const body = { model: 'm', messages: [{ role: 'user', content: 'x' }], ...more }
    const refused = (model: string) => request('chat', 'generate', body, { model }).refused?.param
    expect(refused('gemini-2.5-flash')).toBe('response_format')
    expect(refused('gemini-3-pro')).toBeUndefined()
    // Tuned models and endpoints with names of their own may be any of them.
    expect(refused('tunedModels/mine')).toBeUndefined()
  })
})

it('an image in base64 of several lines, as OpenAI takes it', () => {
  const image_url = { url: 'data:image/png;base64,iVBORw0K\nGgo=\n' }
  const { sent } = to(
    'messages',
    { model: 'claude-opus-4-8' },
    {
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }],
    },
  )
  expect(JSON.stringify(sent)).toContain('"data":"iVBORw0KGgo="')
})

const look = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } }
const to = (format: 'messages' | 'generate', target: RequestOptions, more: JsonObject) => {
  const body = { model: 'm', max_tokens: 4000, messages: [{ role: 'user', content: 'x' }], ...more }
  const { sent, losses } = request('chat', format, body, target)
  return { sent, losses }
}

describe('Claude', () => {
  it.each([
    ['claude-opus-5-5', undefined, { effort: 'low' }, ['reasoning_effort']],
    ['claude-sonnet-5-5', { type: 'between_tools' }, undefined, []],
    ['claude-haiku-5-5', { type: 'disabled' }, undefined, []],
    ['claude-sonnet-5', { type: 'disabled' }, undefined, []],
  ])('%s is asked not to think in its own word', (model, thinking, config, lost) => {
    const { sent, losses } = to('messages', { model }, { reasoning_effort: 'none' })
    expect([sent?.thinking, sent?.output_config, losses]).toEqual([thinking, config, lost])
  })

  it.each([
    [{ model: 'claude-opus-5-5' }, 'auto'],
    [{ model: 'claude-sonnet-5-5' }, 'auto'],
    [{ model: 'claude-opus-4-6' }, 'any'],
    [{ model: 'claude-opus-5' }, 'any'],
    [{ model: 'anthropic.claude-opus-4-6-v1', bedrock: true }, 'auto'],
    [{ model: 'anthropic.claude-opus-4-8-v1', bedrock: true }, 'any'],
    [{ model: 'anthropic.claude-sonnet-5-v1', bedrock: true }, 'any'],
  ])('langchain-aws 1150: %j is not forced to call while it thinks, if it refuses that', (target, type) => {
    const { sent, losses } = to('messages', target, {
      tools: [look],
      tool_choice: 'required',
      reasoning_effort: 'high',
    })
    expect(sent?.tool_choice).toEqual({ type })
    expect(losses).toEqual(type === 'auto' ? ['tool_choice'] : [])
  })

  it.each([
    ['claude-opus-4-8', 'system'],
    ['claude-sonnet-5-5', 'system'],
    ['claude-haiku-5-5', 'system'],
    ['claude-sonnet-5', 'user'],
    ['claude-sonnet-5@20260601', 'user'],
    ['claude-mythos-preview', 'user'],
  ])('gproxy 209, inspect_ai PR 4221: %s gets a later system message as %s', (model, role) => {
    const said = (of: string, content: string) => ({ role: of, content })
    const turns = [said('user', 'a'), said('assistant', 'b'), said('user', 'c'), said('system', 'd')]
    const { sent } = to('messages', { model }, { messages: turns })
    expect(asObject(asArray(sent?.messages).at(-1))?.role).toBe(role)
  })

  it('opencode-claude-bridge PR 1: 4.6 gets no temperature while it thinks, unless it is the default', () => {
    const model = 'claude-sonnet-4-6'
    const thinks = to('messages', { model }, { temperature: 0.5, reasoning_effort: 'high' })
    expect(thinks.sent).not.toHaveProperty('temperature')
    expect(thinks.losses).toEqual(['temperature'])
    expect(to('messages', { model }, { temperature: 1, reasoning_effort: 'high' }).losses).toEqual([])
    expect(to('messages', { model }, { temperature: 0.5 }).sent).toMatchObject({ temperature: 0.5 })
  })
})

it("litellm PR 34569, LibreChat 14231: OpenAI's chat takes tools of GPT-5.4 and newer only if they do not reason", () => {
  const ask = (model: string, more: JsonObject, target: RequestOptions = {}) => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }]
    const body = { model: 'm', max_tokens: 4000, messages: [{ role: 'user', content: 'x' }], tools, ...more }
    const { sent, losses } = request('messages', 'chat', body, { model, ...target })
    return [sent?.reasoning_effort, losses]
  }
  const thinking = { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }
  expect(ask('gpt-5.6-luna', thinking)).toEqual(['none', ['thinking']])
  expect(ask('gpt-5.6-luna', {})).toEqual(['none', []])
  expect(ask('gpt-5.6-luna', { thinking: { type: 'enabled', budget_tokens: 0 } })).toEqual(['none', []])
  expect(ask('gpt-5.6-luna', { ...thinking, tools: [] })).toEqual(['high', []])
  expect(ask('gpt-5.2', thinking)).toEqual(['high', []])
  expect(ask('openai/gpt-5.6-luna', thinking, { compatible: true })).toEqual(['high', []])
})

it('Gemini 2.5 shows no thoughts that it is asked not to have, and its image model has none', () => {
  const ask = (model: string) => {
    const body = { model: 'm', input: 'x', reasoning: { effort: 'none', summary: 'auto' } }
    return request('responses', 'generate', body, { model }).sent?.generationConfig
  }
  expect(ask('gemini-2.5-flash')).toEqual({ thinkingConfig: { thinkingBudget: 0 } })
  expect(ask('gemini-2.5-flash-image')).toBeUndefined()
})

it.each([
  ['gemini-2.5-flash', undefined],
  ['gemini-3-flash-preview', undefined],
  ['gemini-3.5-flash', undefined],
  ['gemini-3.5-flash-lite', 'messages[1]'],
  ['gemini-3.8-flash', 'messages[1]'],
  ['gemini-flash-latest', 'messages[1]'],
  ['gemini-4-argon', 'messages[1]'],
])('LibreChat agents PR 323, pipecat PR 5821: %s begun by the client is refused at %s', (model, param) => {
  const messages = [
    { role: 'user', content: 'x' },
    { role: 'assistant', content: '{' },
  ]
  for (const from of ['chat', 'messages'] as const) {
    const body = { model: 'm', max_tokens: 100, messages }
    expect(request(from, 'generate', body, { model }).refused?.param).toBe(param)
    const answered = { ...body, messages: [...messages, { role: 'user', content: 'y' }] }
    expect(request(from, 'generate', answered, { model }).refused).toBeNull()
  }
})

describe('Gemini 4', () => {
  it('has no minimal thinking, no sampling and no penalties', () => {
    const asked = { temperature: 0.5, top_p: 0.9, frequency_penalty: 1, reasoning_effort: 'minimal' }
    const { sent, losses } = to('generate', { model: 'gemini-4-argon' }, asked)
    expect(sent?.generationConfig).toEqual({ maxOutputTokens: 4000, thinkingConfig: { thinkingLevel: 'LOW' } })
    expect(losses).toEqual(['reasoning_effort', 'temperature', 'top_p', 'frequency_penalty'])
    expect(to('generate', { model: 'gemini-3.8-flash' }, asked).losses).toEqual([])
  })
})
