import { describe, expect, it } from 'vitest'
import type { StreamEvent } from '../../../src/core/bytes/stream-event.ts'
import { readNodes } from '../../../src/core/json/json-nodes.ts'
import { readAnswerEvent } from '../../../src/gateway/content/answer-event.ts'
import { RepeatedEvent } from '../../../src/gateway/content/repeated-event.ts'

const chunk = (content: string, id = 'chatcmpl-1') =>
  `{"id":"${id}","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}`

function eventOf(text: string, name = ''): StreamEvent {
  const data = Buffer.from(text)
  return { bytes: data, data, name, part: 'whole' }
}

function afterHello(): RepeatedEvent {
  const event = eventOf(chunk('Hello'))
  const root = readNodes(event.data)
  const piece = root === null ? undefined : readAnswerEvent(event.data, root, '').pieces[0]
  if (piece === undefined) throw new Error('the event has no text')
  const repeated = new RepeatedEvent()
  repeated.remember(event, piece)
  return repeated
}

describe('an event that repeats the one before with another text', () => {
  it.each([
    ['a longer text', 'Hello, and welcome', 'Hello, and welcome'],
    ['none', '', ''],
    ['escapes', String.raw`a \"quoted\" \\ word \u00e9`, 'a "quoted" \\ word é'],
    ['letters of several bytes', 'Grüße 👋', 'Grüße 👋'],
  ])('is read by its text alone: %s', (_, written, text) => {
    const event = eventOf(chunk(written))
    const piece = afterHello().read(event)
    expect(piece?.text).toBe(text)
    expect(event.data.toString('utf8', piece?.node.start, piece?.node.end)).toBe(`"${written}"`)
    expect(piece?.path).toBe('choices[0].delta.content')
  })

  it.each([
    ['another id', chunk('Hello', 'chatcmpl-2')],
    ['a member more', chunk('Hello","refusal":"no')],
    ['another end', chunk('Hello').replace('null', '"stop"')],
    ['a text that is none', chunk(String.raw`\x`)],
    ['a text that does not end', chunk('Hello\\')],
    ['no text', chunk('').replace('""', '1')],
    ['less than both ends of it', '{"id":"chatcmpl-1","choices":[]}'],
  ])('is read as a whole with %s', (_, text) => {
    expect(afterHello().read(eventOf(text))).toBeNull()
  })

  it('is read as a whole under another name, and where nothing came before', () => {
    expect(afterHello().read(eventOf(chunk('Hello'), 'error'))).toBeNull()
    expect(new RepeatedEvent().read(eventOf(chunk('Hello')))).toBeNull()
  })
})
