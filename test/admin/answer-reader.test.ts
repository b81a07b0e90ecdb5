import { describe, expect, it } from 'vitest'
import { isEventStream, RecordedAnswerReader, readWholeText } from '../../src/admin/handlers/requests/answer-reader.ts'

const chunk = (text: string) => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`
const whole = '{"choices":[{"message":{"content":"Hällo"}}]}'

describe('the text of an answer', () => {
  it('of a stream comes event by event, wherever the bytes are cut, and nothing of it is lost', () => {
    const stream = Buffer.from(`${chunk('Hä')}: a comment\n\n${chunk('llo')}data: [DONE]\n\n`)
    for (let size = 1; size <= stream.length; size++) {
      const reader = new RecordedAnswerReader('openai', true)
      const parts = []
      for (let at = 0; at < stream.length; at += size) parts.push(...reader.push(stream.subarray(at, at + size)))
      parts.push(...reader.rest())
      expect(parts.map(({ text }) => text).filter((text) => text !== '')).toEqual(['Hä', 'llo'])
      expect(parts.map(({ raw }) => raw).join('')).toBe(stream.toString())
    }
  })

  it('of a stream that breaks off has what came of the last event', () => {
    const reader = new RecordedAnswerReader('openai', true)
    const begun = reader.push(Buffer.from(`${chunk('a')}data: {"cho`))
    expect(begun.map(({ text }) => text)).toEqual(['a'])
    expect(reader.rest()).toEqual([{ raw: 'data: {"cho', text: '' }])
  })

  it('of a whole answer is there when all of it came, also where a character is cut', () => {
    const reader = new RecordedAnswerReader('openai', false)
    for (const byte of Buffer.from(whole)) expect(reader.push(Buffer.from([byte]))).toEqual([])
    expect(reader.rest()).toEqual([{ raw: whole, text: 'Hällo' }])
    expect(new RecordedAnswerReader('openai', false).rest()).toEqual([])
  })

  it.each([
    ['text/event-stream', chunk('a') + chunk('b'), 'ab'],
    ['application/json', whole, 'Hällo'],
    [null, whole, 'Hällo'],
    ['text/plain', 'no JSON', ''],
    ['application/json', '', ''],
  ])('that was kept as %s is read whole', (type, content, text) => {
    expect(readWholeText('openai', { type, content })).toBe(text)
  })
})

it.each([
  ['text/event-stream', true],
  ['Text/Event-Stream; charset=utf-8', true],
  ['text/event-streams', false],
  ['x-text/event-stream', false],
  [null, false],
])('%s is a stream of events: %s', (type, is) => {
  expect(isEventStream(type)).toBe(is)
})
