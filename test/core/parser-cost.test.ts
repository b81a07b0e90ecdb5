import { describe, expect, it, vi } from 'vitest'
import { FormScanner } from '../../src/core/bytes/form-scan.ts'
import { SseFramer } from '../../src/core/bytes/sse.ts'
import { JsonArrayFramer } from '../../src/core/json/json-array.ts'
import { LineScanner } from '../../src/core/text/line-scan.ts'
import { InputScan } from '../../src/gateway/objects/input-scan.ts'
import { lineReaders } from '../../src/lanes/line-readers.ts'
import { EventStreamSink } from '../../src/providers/bedrock/event-stream.ts'
import { countSteps } from '../support/count-steps.ts'

/** Rule 27: what comes in pieces costs as much more as there is more of it, however it is made and cut. */

const boundary = 'xYzBoundary'
const part = (name: string, value: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const line = (body: string) => `{"custom_id":"1","method":"POST","url":"/v1/responses","body":${body}}\n`
const fill = (size: number, one: string) => one.repeat(Math.ceil(size / one.length))

type Parse = (pieces: Iterable<Buffer>) => void

const framed =
  (framer: { push(chunk: Buffer): unknown[]; rest(): unknown }): Parse =>
  (pieces) => {
    for (const piece of pieces) framer.push(piece)
    framer.rest()
  }

const parsers: Record<string, { parse(): Parse; shapes: Record<string, (size: number) => string> }> = {
  form: {
    parse: () => (pieces) => {
      const sink = { begin: () => {}, bytes: () => {} }
      const scanner = new FormScanner(boundary, ['model', 'stream'], sink)
      for (const piece of pieces) scanner.push(piece)
      scanner.end()
    },
    shapes: {
      'many parts': (size) => fill(size, part('p', '')),
      'nearly boundaries': (size) => part('file', fill(size, `\r\n--${boundary.slice(0, -1)}`)),
      'line ends': (size) => part('file', fill(size, '\r\n')),
      'half line ends': (size) => part('file', fill(size, '\r')),
      hyphens: (size) => part('file', fill(size, '--')),
      'long values': (size) => fill(size, part('p', 'x'.repeat(4000))),
      'many headers': (size) =>
        fill(size, `--${boundary}\r\n${fill(8000, 'x-a: b\r\n')}content-disposition: form-data; name="p"\r\n\r\n\r\n`),
      'many parameters': (size) =>
        fill(size, `--${boundary}\r\ncontent-disposition: form-data${fill(8000, '; a=b')}; name="p"\r\n\r\n\r\n`),
    },
  },
  'event stream': {
    parse: () => framed(new SseFramer()),
    shapes: {
      events: (size) => fill(size, 'data: {}\n\n'),
      'empty events': (size) => fill(size, 'data:\n\n'),
      'blank lines': (size) => fill(size, '\n'),
      'carriage returns': (size) => fill(size, 'data: {}\r\r'),
      comments: (size) => fill(size, ':\n'),
      'lines of one event': (size) => `${fill(size, 'data: {}\n')}\n`,
      'one line': (size) => `data: ${fill(size, 'a')}\n\n`,
      'names of one event': (size) => fill(size, 'event: a\n'),
    },
  },
  'array of events': {
    parse: () => framed(new JsonArrayFramer()),
    shapes: {
      objects: (size) => `[${fill(size, '{"a":1},')}{}]`,
      'one object': (size) => `[{"a":"${fill(size, 'b')}"}]`,
      'deep objects': (size) => `[${fill(size, '{"a":')}`,
      quotes: (size) => `[{"a":"${fill(size, '\\"')}"}]`,
      spaces: (size) => `[${fill(size, ' ')}]`,
    },
  },
  lines: {
    parse: () => (pieces) => {
      const scanner = new LineScanner(1 << 20, () => {})
      for (const piece of pieces) scanner.add(piece)
      scanner.end()
    },
    shapes: {
      lines: (size) => fill(size, '{}\n'),
      'empty lines': (size) => fill(size, '\n'),
      'one line': (size) => fill(size, 'a'),
    },
  },
  'input of a batch': {
    parse: () => (pieces) => {
      const reader = lineReaders.openai
      if (reader === undefined) throw new Error('no reader')
      const scan = new InputScan(reader)
      for (const piece of pieces) scan.add(piece)
      scan.end()
    },
    shapes: {
      lines: (size) => fill(size, line('{"model":"m","input":"x"}')),
      'many keys': (size) => line(`{"model":"m",${fill(size, '"\\u0061":1,')}"input":1}`),
      'nested lists': (size) => line(`{"model":"m","input":${fill(size, '[')}`),
      'references of one line': (size) =>
        line(`{"model":"m","input":[${fill(size, '{"type":"item_reference","id":"msg_1"},')}1]}`),
    },
  },
  'binary event stream': {
    parse: () => (pieces) => {
      const nothing = { onConnected() {}, onHead() {}, onData() {}, onEnd() {}, onError() {} }
      const sink = new EventStreamSink(nothing, { decode: () => ({ headers: {}, body: Buffer.from('{}') }) })
      sink.onHead(200, ['content-type', 'application/vnd.amazon.eventstream'])
      for (const piece of pieces) sink.onData(piece)
      sink.onEnd()
    },
    shapes: {
      'short messages': (size) => fill(size, '\0\0\0\x10            '),
      'one message': (size) => `\0\x02\0\0${fill(size, 'a')}`,
      'no messages': (size) => fill(size, 'a'),
    },
  },
}

function* cut(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Steps of the program's own code, and bytes that are joined anew, which native code does. */
async function workOf(parse: () => Parse, bytes: Buffer, pieceBytes: number): Promise<number> {
  let joined = 0
  const { concat } = Buffer
  const spy = vi.spyOn(Buffer, 'concat').mockImplementation((list, total) => {
    const whole = concat.call(Buffer, list, total)
    joined += whole.length
    return whole
  })
  try {
    return (await countSteps(() => parse()(cut(bytes, pieceBytes)))) + joined
  } finally {
    spy.mockRestore()
  }
}

describe.each(Object.entries(parsers))('%s', (_, { parse, shapes }) => {
  it.each(Object.keys(shapes))('costs twice as much of twice as many: %s', async (shape) => {
    for (const pieceBytes of [16 * 1024, 61]) {
      const [once, twice] = [60_000, 120_000].map((size) => Buffer.from(shapes[shape]?.(size) ?? '', 'latin1'))
      await workOf(parse, once!, pieceBytes)
      const work = await workOf(parse, once!, pieceBytes)
      expect(await workOf(parse, twice!, pieceBytes)).toBeLessThan(2.5 * work + 2000)
    }
  })
})
