import { describe, expect, it } from 'vitest'
import { type Question, readAnswerText, writeLaneCall } from '../../src/core/lane-call.ts'

const question: Question = {
  model: 'm/1',
  turns: [
    { role: 'system', text: 'Be short.' },
    { role: 'user', text: 'Hello' },
    { role: 'assistant', text: 'Hi.' },
    { role: 'user', text: 'Bye' },
  ],
  streamed: true,
  maxTokens: 20,
  temperature: 0.5,
}

describe('a call written for a lane', () => {
  it('is a chat completion on the OpenAI lane', () => {
    expect(writeLaneCall('openai', question)).toEqual({
      path: '/v1/chat/completions',
      body: {
        model: 'm/1',
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Hi.' },
          { role: 'user', content: 'Bye' },
        ],
        stream: true,
        max_completion_tokens: 20,
        temperature: 0.5,
      },
    })
  })

  it('keeps the system text apart on the Anthropic lane, and always has a limit', () => {
    const { path, body } = writeLaneCall('anthropic', { ...question, maxTokens: null })
    expect(path).toBe('/v1/anthropic/v1/messages')
    expect(body).toMatchObject({ system: 'Be short.', max_tokens: 1024, stream: true })
    expect(body.messages).toHaveLength(3)
  })

  it('says model and streaming in the path on the Gemini lane', () => {
    const { path, body } = writeLaneCall('gemini', question)
    expect(path).toBe('/v1/gemini/v1beta/models/m%2F1:streamGenerateContent?alt=sse')
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'Be short.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hello' }] },
        { role: 'model', parts: [{ text: 'Hi.' }] },
        { role: 'user', parts: [{ text: 'Bye' }] },
      ],
      generationConfig: { maxOutputTokens: 20, temperature: 0.5 },
    })
    expect(writeLaneCall('gemini', { ...question, streamed: false }).path).toMatch(/:generateContent$/)
  })
})

describe('the text of an answer', () => {
  it('is read from events and from whole answers', () => {
    expect(readAnswerText('openai', { choices: [{ delta: { content: 'a' } }] })).toBe('a')
    expect(readAnswerText('openai', { choices: [{ message: { content: 'whole' } }] })).toBe('whole')
    expect(readAnswerText('anthropic', { type: 'content_block_delta', delta: { text: 'b' } })).toBe('b')
    expect(readAnswerText('anthropic', { type: 'message', content: [{ text: 'x' }, { text: 'y' }] })).toBe('xy')
    const parts = [{ text: 'hidden', thought: true }, { text: 'c' }]
    expect(readAnswerText('gemini', { candidates: [{ content: { parts } }] })).toBe('c')
  })

  it('is empty for anything else', () => {
    for (const answer of [null, 7, 'text', [], { choices: 3 }, { delta: null }, { candidates: [{}] }])
      for (const lane of ['openai', 'anthropic', 'gemini'] as const) expect(readAnswerText(lane, answer)).toBe('')
  })
})
