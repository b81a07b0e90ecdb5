import { expect, it } from 'vitest'
import { textBytes, WrittenTokens } from '../../src/gateway/answer/written-tokens.ts'

const bytesOf = (value: unknown) => textBytes(Buffer.from(JSON.stringify(value)))

it('counts what a model has written, and nothing beside it', () => {
  expect(bytesOf({ id: 'x'.repeat(50), choices: [{ delta: { content: 'four' } }] })).toBe(4)
  expect(bytesOf({ content: [{ type: 'text', text: 'häh' }] })).toBe(4)
  expect(bytesOf({ tool_calls: [{ id: 'call_1', function: { name: 'f', arguments: '{"a":1}' } }] })).toBe(7)
})

it('counts the arguments of a call as they are, names too', () => {
  expect(bytesOf({ functionCall: { name: 'weather', args: { city: 'Bern', days: 3 } } })).toBe('cityBerndays3'.length)
})

it('counts all of what is no document', () => {
  expect(textBytes(Buffer.from('{"content":"cut off'))).toBe(19)
})

it('reads a document of any depth', () => {
  const deep = `${'['.repeat(200_000)}{"text":"down"}${']'.repeat(200_000)}`
  expect(textBytes(Buffer.from(`{"content":"up","more":${deep}}`))).toBe(6)
})

it('counts a text that comes in one event behind an empty one, and one that comes in few large ones', () => {
  const [empty, small, large] = [0, 400, 4000].map((length) => ({
    data: Buffer.from(`{"text":"${'x'.repeat(length)}"}`),
  }))
  const count = (...events: (typeof empty)[]) => {
    const counted = new WrittenTokens(false)
    for (const event of events) if (event !== undefined) counted.add(event)
    return counted.tokens
  }
  expect(count(empty, small)).toBe(100)
  expect(count(empty, empty, large, empty, large)).toBe(2000)
  expect(count(empty, empty, ...Array(16).fill(small), large)).toBe(2600)
})

it('reads some events of a stream, and each where a budget waits for the count', () => {
  const event = { data: Buffer.from(JSON.stringify({ delta: 'x'.repeat(40) })) }
  for (const exact of [true, false]) {
    const counted = new WrittenTokens(exact)
    for (let count = 0; count < 16; count++) counted.add(event)
    expect(counted).toMatchObject({ events: 16, tokens: 160 })
  }
})
