import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { locateInEvent, SseFramer } from '../../../src/core/bytes/sse.ts'
import type { StreamEvent } from '../../../src/core/bytes/stream-event.ts'
import { frame, joined } from '../../support/framing.ts'

const shown = (events: readonly StreamEvent[]) => events.map(({ name, data }) => [name, data.toString('utf8')])
const push = (text: string, ...sizes: number[]) => frame(new SseFramer(), Buffer.from(text), sizes)

/** The specification's own algorithm, on the whole text. */
function reference(text: string): [string, string][] {
  const events: [string, string][] = []
  let name = ''
  let data: string[] = []
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line === '') {
      if (name !== '' || data.length > 0) events.push([name, data.join('\n')])
      name = ''
      data = []
      continue
    }
    const [, field, value] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'event') name = value ?? ''
    if (field === 'data') data.push(value ?? '')
  }
  if (name !== '' || data.length > 0) events.push([name, data.join('\n')])
  return events
}

const line = fc.constantFrom(
  'data: {"a":1}',
  'data:x',
  'data',
  'data: ',
  'event: ping',
  'event:error',
  ': note',
  ':',
  'id: 7',
  'database: no',
  'data : no',
  'é😀',
)
const lineEnd = fc.constantFrom('\n', '\r\n', '\r')
const stream = fc
  .array(fc.tuple(fc.option(line, { nil: '' }), lineEnd), { maxLength: 30 })
  .map((lines) => lines.flat().join(''))

describe('SseFramer', () => {
  it.each([
    ['data: {"a":1}\n\n', [['', '{"a":1}']]],
    ['event: ping\r\ndata: 1\r\n\r\n', [['ping', '1']]],
    ['event:a\rdata:1\r\r', [['a', '1']]],
    ['data: 1\ndata:  2\n\n', [['', '1\n 2']]],
    [
      ': keep-alive\n\ndata: 1\n\n',
      [
        ['', ''],
        ['', '1'],
      ],
    ],
    ['\ufeffdata: 1\n\n', [['', '1']]],
    ['data: cut off', [['', 'cut off']]],
    ['data: 1\n', [['', '1']]],
    ['', []],
  ])('reads %j, whole and byte by byte', (text, events) => {
    expect(shown(push(text, 1000))).toEqual(events)
    expect(shown(push(text, 1))).toEqual(events)
  })

  it('gives back every byte and the same events, however the stream was cut', () => {
    fc.assert(
      fc.property(stream, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }), (text, sizes) => {
        const events = push(text, ...sizes)
        expect(joined(events)).toBe(text)
        expect(shown(events).filter(([name, data]) => name !== '' || data !== '')).toEqual(
          reference(text).filter(([name, data]) => name !== '' || data !== ''),
        )
      }),
      { numRuns: 1000 },
    )
  })

  it('hands out an event at its blank line, without waiting for what follows', () => {
    const framer = new SseFramer()
    expect(shown(framer.push(Buffer.from('data: 1\n\n')))).toEqual([['', '1']])
    expect(shown(framer.push(Buffer.from('data: 2\r\r')))).toEqual([['', '2']])
    expect(framer.push(Buffer.from('data: 3\r\n\r'))).toEqual([])
    expect(shown(framer.push(Buffer.from('\n')))).toEqual([['', '3']])
    expect(framer.pending).toBe(0)
  })

  it('does not copy an event that one chunk holds', () => {
    const chunk = Buffer.from('data: 1\n\ndata: 2\n\n')
    for (const event of new SseFramer().push(chunk)) {
      expect(event.bytes.buffer).toBe(chunk.buffer)
      expect(event.data.buffer).toBe(chunk.buffer)
    }
  })

  it('releases an event that is too large in pieces, and finds its end', () => {
    const framer = new SseFramer()
    const events: StreamEvent[] = []
    const text = `event: big\ndata: {"text":"${'x'.repeat(50)}`
    events.push(...framer.push(Buffer.from(text)))
    expect(framer.pending).toBe(text.length)
    events.push(...[framer.release()].filter((event) => event !== null))
    expect(framer.pending).toBe(0)
    expect(framer.release()).toBeNull()
    framer.push(Buffer.from('yyyy'))
    events.push(...[framer.release()].filter((event) => event !== null))
    events.push(...framer.push(Buffer.from('","usage":1}\n\ndata: next\n\n')))
    expect(events.map(({ part, name }) => [part, name])).toEqual([
      ['head', 'big'],
      ['middle', 'big'],
      ['tail', 'big'],
      ['whole', ''],
    ])
    expect(events[0]?.data.toString()).toBe(`{"text":"${'x'.repeat(50)}`)
    expect(events[2]?.data.toString()).toBe(`${text}yyyy","usage":1}\n\n`)
    expect(joined(events)).toBe(`${text}yyyy","usage":1}\n\ndata: next\n\n`)
  })

  it('releases at any moment without losing bytes or events', () => {
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
        fc.nat(40),
        (text, sizes, moment) => {
          const framer = new SseFramer()
          const bytes = Buffer.from(text)
          const cut = Math.min(moment, bytes.length)
          const events = framer.push(bytes.subarray(0, cut))
          const released = framer.release()
          if (released !== null) events.push(released)
          events.push(...frame(framer, bytes.subarray(cut), sizes))
          expect(joined(events)).toBe(text)
          const wanted = reference(text).filter(([name, data]) => name !== '' || data !== '')
          const whole = shown(events.filter(({ part }) => part === 'whole' || part === 'cut')).filter(
            ([name, data]) => name !== '' || data !== '',
          )
          expect(whole.length).toBeGreaterThanOrEqual(wanted.length - 1)
          for (const event of whole) expect(wanted).toContainEqual(event)
        },
      ),
    )
  })
})

describe('locateInEvent', () => {
  it('finds the place of a data byte, also behind the prefixes of several lines', () => {
    for (const text of ['event: a\ndata: {"x":1}\n\n', 'data: {"x"\r\ndata::1}\r\n\r\n']) {
      const event = push(text, 1000)[0]
      if (event === undefined) throw new Error('no event')
      for (const character of ['{', '"', ':', '1', '}']) {
        const offset = event.data.lastIndexOf(character)
        expect(event.bytes.toString('utf8', locateInEvent(event, offset))[0]).toBe(character)
      }
    }
  })
})
