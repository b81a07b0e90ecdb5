import { expect, it } from 'vitest'
import { describeCall, inspectRequest } from '../../../src/daemon/calls/inspect-request.ts'

const read = (body: object, model: string | null = null, lane: 'openai' | 'anthropic' | 'gemini' | null = null) =>
  inspectRequest(JSON.stringify(body), lane, model)

it('reads which models a body names besides its own, and whose it is', () => {
  const messages = [{ role: 'user', content: 'hi' }]
  const [chat] = read(
    { model: 'a', messages, models: ['b'], tools: [{ type: 'x', model: 'c' }], user: 'ann' },
    null,
    'openai',
  )
  expect(chat).toMatchObject({
    model: 'a',
    additionalModels: [{ name: 'b', mayAnswer: true }, { name: 'c' }],
    user: 'ann',
  })
  expect(read({ model: 'a', messages }, null, 'openai')).toMatchObject([{ user: '' }])
})

it.each([
  [{ content: { parts: [] } }, 'embed', null],
  [{ requests: [{ content: { parts: [] } }] }, 'embed', null],
  [{ generateContentRequest: { contents: [] } }, 'count_tokens', 'generate'],
  [{ contents: [] }, 'generate', null],
])('knows the calls of Gemini by their bodies: %j', (body, operation, counts) => {
  const found = read(body, 'm')
  expect(found).toMatchObject([{ lane: 'gemini', operation, counts, model: 'm' }])
})

it('takes no word of a path for a model that nobody named', () => {
  expect(read({ contents: [] })).toMatchObject([{ model: null }])
  expect(read({ model: 'models/e', content: { parts: [] } })).toMatchObject([{ model: 'e' }])
})

it('knows a call by its operation', () => {
  expect(describeCall('gemini', 'embed')).toEqual({ usesTokens: true, limitedBy: null, counts: null })
  expect(describeCall('openai', 'responses')).toMatchObject({ limitedBy: 'max_output_tokens' })
  expect(describeCall('anthropic', 'count_tokens')).toMatchObject({ usesTokens: false, counts: 'messages' })
  expect(describeCall('openai', 'nothing')).toBeNull()
})
