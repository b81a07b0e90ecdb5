import { expect, it } from 'vitest'
import { embeddedTokens } from '../../src/gateway/answer/embedded-tokens.ts'

const tokensOf = (body: object) => embeddedTokens(Buffer.from(JSON.stringify(body)))
const parts = (...texts: string[]) => ({ content: { parts: texts.map((text) => ({ text })) } })

it.each([
  [{ model: 'text-embedding-3-small', input: 'Hello' }, 2],
  [{ model: 'm', input: ['a', 'Hello there', 'é'.repeat(4)] }, 1 + 3 + 2],
  [{ model: 'm', input: [1, 2, 3] }, 3],
  [{ model: 'm', input: [[1, 2], [3]] }, 3],
  [{ model: 'models/gemini-embedding-2', taskType: 'RETRIEVAL_QUERY', ...parts('Hello', 'a') }, 3],
  [{ requests: [parts('Hello'), parts('a')] }, 3],
])('counts the texts, and nothing that stands around them: %j', (body, expected) => {
  expect(tokensOf(body)).toBe(expected)
})

it.each([
  {},
  { input: [{ image: 'x' }] },
  { content: { parts: [{ text: 'a' }, { inlineData: { data: 'AAAA' } }] } },
  { input: 'a'.repeat(256 * 1024) },
])('leaves all else to its length', (body) => {
  expect(tokensOf(body)).toBeNull()
})
