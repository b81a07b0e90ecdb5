import { describe, expect, it } from 'vitest'
import { readCount, readCountRequest, writeCount, writeCountRequest } from '../../src/translate/counts.ts'
import { estimateRequest } from '../../src/translate/estimate-tokens.ts'
import { readDocument } from '../../src/translate/json.ts'
import { codecOf, isFault, plainCarriers } from '../support/translate/stage.ts'

function estimate(body: object): number {
  const document = readDocument(Buffer.from(JSON.stringify(body)))
  if (isFault(document)) throw new Error(document.message)
  const read = codecOf('messages').readRequest(document.value, { streamed: false, carriers: plainCarriers })
  if (isFault(read)) throw new Error(read.message)
  return estimateRequest(read, document.pieces)
}

const user = (content: unknown) => ({ model: 'm', messages: [{ role: 'user', content }] })

describe('an estimate', () => {
  it('CLIProxyAPI 679: counts system and tools too', () => {
    const plain = estimate(user('hi'))
    const tools = [{ name: 'look', description: 'x'.repeat(400), input_schema: { type: 'object' } }]
    expect(estimate({ ...user('hi'), tools }) - plain).toBeGreaterThan(100)
    expect(estimate({ ...user('hi'), system: 'y'.repeat(400) }) - plain).toBeGreaterThan(100)
  })

  it('litellm 37102: counts a long text that is never decoded', () => {
    expect(estimate(user('z'.repeat(200_000)))).toBeGreaterThan(50_000)
  })

  it('counts an image as one, whatever its bytes', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO'.repeat(100_000) } }
    const tokens = estimate(user([image]))
    expect(tokens).toBeGreaterThan(1_600)
    expect(tokens).toBeLessThan(2_000)
  })

  it('CLIProxyAPI 4103: adds little to what is there', () => {
    expect(estimate(user('one two three four five six'))).toBeLessThan(15)
  })
})

it('asks for a count with what counts, and reads it in each format', () => {
  const request = { model: 'm', messages: [], max_tokens: 5, stream: true, metadata: {}, system: 's' }
  expect(writeCountRequest('messages', request, null)).toEqual({ model: 'm', messages: [], system: 's' })
  const contents = { contents: [], safetySettings: [] }
  expect(writeCountRequest('generate', contents, null)).toEqual({ contents: [] })
  const wrapped = writeCountRequest('generate', contents, { model: 'g' })
  expect(wrapped).toEqual({ generateContentRequest: { model: 'models/g', contents: [] } })
  expect(readCountRequest('generate', wrapped)).toEqual({ model: 'models/g', contents: [] })
  for (const format of ['responses', 'messages', 'generate'] as const)
    expect(readCount(format, writeCount(format, 7))).toBe(7)
  expect(readCount('messages', { totalTokens: 7 })).toBeNull()
})
