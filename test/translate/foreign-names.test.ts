import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import { readStreamedError as readAnthropicError } from '../../src/lanes/anthropic/errors.ts'
import { readStreamedError as readOpenAiError } from '../../src/lanes/openai/errors.ts'
import { readFinish as readChatFinish } from '../../src/translate/chat/finish.ts'
import { readFinish as readGenerateFinish } from '../../src/translate/generate/finish.ts'
import { codecs } from '../../src/translate/index.ts'
import { readStop } from '../../src/translate/messages/stop.ts'
import { translateRequest } from '../support/translate/stage.ts'

/** What every object in JavaScript has, and a client may write as a name of its own. */
const names = Object.getOwnPropertyNames(Object.prototype)
const hi = [{ role: 'user', content: 'hi' }]
const messages = (more: object) => ({ model: 'm', max_tokens: 100, messages: hi, ...more })

/** As JSON says it: `__proto__` is a member like any other. */
const withMember = (schema: object, name: string, value: unknown) =>
  `${JSON.stringify(schema).slice(0, -1)},${JSON.stringify(name)}:${JSON.stringify(value)}}`
const toolWith = (schema: string) =>
  JSON.stringify(messages({ tools: [{ name: 'f', input_schema: 'SCHEMA' }] })).replace('"SCHEMA"', schema)

describe('a keyword of a schema that every object has', () => {
  const schema = { type: 'object', properties: { list: { type: 'array' } } }

  it.each(names)('%s reaches OpenAI as it is written', (name) => {
    for (const value of ['properties', { a: 1 }, 1]) {
      const { body } = translateRequest('messages', 'chat', toolWith(withMember(schema, name, value)))
      expect(body).toContain(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
    }
  })

  it('changes nothing of what the requests of others become', () => {
    const plain = toolWith(JSON.stringify(schema))
    const before = translateRequest('messages', 'chat', plain).body
    expect(before).toContain('"list":{"type":"array","items":{}}')
    for (const name of names)
      for (const replaced of ['properties', 'items', 'anyOf'])
        translateRequest('messages', 'chat', toolWith(withMember(schema, name, replaced)))
    expect(translateRequest('messages', 'chat', plain).body).toBe(before)
  })

  it.each(names)('%s is no bound of a whole number for Google', (name) => {
    const text = toolWith(withMember({ type: 'integer' }, name, 3))
    const { body, losses } = translateRequest('messages', 'generate', text)
    expect(body).not.toMatch(/"(undefined|NaN|Object)"/)
    expect(losses.join()).toContain(name)
  })
})

describe('a member of a request that every object has', () => {
  it.each(names)('%s is lost by its name, or refused by it', (name) => {
    for (const from of ['messages', 'chat'] as const) {
      const text = withMember(messages({}), name, 'x')
      const to = from === 'chat' ? 'messages' : 'chat'
      expect(translateRequest(from, to, text).losses).toEqual([name])
      const { refused } = translateRequest(from, to, text, { strict: true })
      expect(refused).toMatchObject({ param: name, message: expect.stringContaining(`${name} would be lost`) })
    }
  })
})

describe('a word of a request that every object has', () => {
  it.each<[string, FormatName, object, string]>([
    ['a role', 'responses', { model: 'm', input: [{ role: 'constructor', content: 'hi' }] }, 'not a known role'],
    ['a role', 'generate', { contents: [{ role: 'constructor', parts: [] }] }, 'neither user nor model'],
    [
      'a level',
      'generate',
      { contents: [{ parts: [{ text: 'hi' }] }], generationConfig: { thinkingConfig: { thinkingLevel: '__proto__' } } },
      'not a known level',
    ],
  ])('is none that is known: %s of %s', (_, from, request, message) => {
    const { refused } = translateRequest(from, 'messages', JSON.stringify(request))
    expect(refused?.message).toContain(message)
  })

  it('is left out of how closely an image is looked at', () => {
    const image_url = { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'constructor' }
    const chat = { model: 'm', messages: [{ role: 'user', content: [{ type: 'image_url', image_url }] }] }
    const { body } = translateRequest('chat', 'generate', JSON.stringify(chat))
    expect(body).toContain('inlineData')
    expect(body).not.toContain('mediaResolution')
  })
})

describe('a word of a provider that every object has', () => {
  it.each(names)('%s is no known reason to end', (word) => {
    expect(readChatFinish(word, false)).toBe('done')
    expect(readStop({ stop_reason: word }).reason).toBe('done')
    expect(readGenerateFinish({ finishReason: word }, null)?.reason).toBe('done')
  })

  it.each(names)('%s is an error like any other of its status', (word) => {
    const body = { error: { code: word, type: word, status: word, message: 'no' } }
    for (const { readError, writeError } of Object.values(codecs)) {
      const read = readError(400, body)
      expect(read).toMatchObject({ kind: 'invalid', message: 'no' })
      expect(writeError(read, 'req_1').status).toBe(400)
    }
  })

  it.each(names)('%s tells no status of an error in a stream', (word) => {
    const error = { code: word, type: word, status: word }
    expect(readAnthropicError({ error }).status).toBeNull()
    expect(readOpenAiError(error).status).toBeNull()
  })
})
