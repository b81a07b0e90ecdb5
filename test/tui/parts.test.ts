import { EventEmitter } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, it, vi } from 'vitest'
import { prepareWidths } from '../../cli/print/text-width.ts'
import { clip, pad, toAscii } from '../../tui/clip.ts'
import { editLine, lineOf, windowOf } from '../../tui/line-editor.ts'
import { columnsOf, flow, mark, pairs, wrap } from '../../tui/lines.ts'
import { sparkline } from '../../tui/pages/traffic.ts'
import { RowStream } from '../../tui/row-stream.ts'
import type { TextTheme } from '../../tui/screen.ts'
import { moveSelection } from '../../tui/selection.ts'
import { copySequence, readStyle, type TerminalProcess, watchEnd } from '../../tui/terminal.ts'

await prepareWidths('漢')
const plainTheme = { paint: (_tone: string, text: string) => text } as TextTheme

describe('text', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 })

  it('is never wider than it may be, coloured or not', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 8, max: 60 }), (given, width) => {
        const plain = given.replace(/\p{Cc}/gu, '')
        expect(stringWidth(clip(plain, width))).toBeLessThanOrEqual(width)
        expect(stringWidth(clip(`\u001b[31m${plain}\u001b[39m`, width))).toBeLessThanOrEqual(width)
        expect(stringWidth(pad(plain, width))).toBe(width)
        for (const line of wrap(plain, width)) expect(stringWidth(line)).toBeLessThanOrEqual(width)
      }),
    )
  })

  it('is cut only where it does not fit, and ends with a sign for what is missing', () => {
    expect([clip('abcd', 4), clip('abcde', 4), clip('漢字漢', 4), clip('漢字', 4)]).toEqual([
      'abcd',
      'abc…',
      '漢…',
      '漢字',
    ])
    expect(clip('\u001b[31mabcde\u001b[39m', 4)).toBe('\u001b[31mabc…\u001b[0m')
    expect(clip('\u001b[31mabcd\u001b[39m', 4)).toBe('\u001b[31mabcd\u001b[39m')
    expect([pad('ab', 4), pad('abcde', 4), pad('漢字漢', 4)]).toEqual(['ab  ', 'abc…', '漢… '])
  })

  it('goes on in the next line where the next word does not fit, and within a word that fits in none', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
    expect(wrap('one two three', 8)).toEqual(['one two', 'three'])
    expect(wrap('abcdefghij kl', 4)).toEqual(['abcd', 'efgh', 'ij', 'kl'])
    expect(wrap('a abcdefghij kl', 5)).toEqual(['a', 'abcde', 'fghij', 'kl'])
    expect([wrap('', 4), wrap('one', 4), wrap('one two', 3)]).toEqual([[''], ['one'], ['one', 'two']])
  })

  it('stands in columns as wide as their widest, of which the last goes on below itself', () => {
    const rows = [
      ['a', 'long', 'one two three four'],
      ['abc', 'b', 'five'],
    ]
    expect(columnsOf(rows, 24)).toEqual(['a    long  one two three', '           four', 'abc  b     five'])
    expect(
      pairs(
        [
          ['a', '1'],
          ['long', '2'],
        ],
        plainTheme,
      ),
    ).toEqual(['a     1', 'long  2'])
    expect([mark(true, plainTheme), mark(false, plainTheme)]).toEqual(['▸ ', '  '])
    expect(flow(['one', 'two', 'three', 'a line too long'], 8)).toEqual(['one  two', 'three', 'a line too long'])
  })

  it('is plain ASCII of the same width for a poor terminal', () => {
    fc.assert(
      fc.property(text, (given) => {
        const plain = given.replace(/\p{Cc}/gu, '')
        expect(toAscii(plain)).toMatch(/^[ -~]*$/)
      }),
    )
    expect(toAscii('▸ ● 漢 ─│…')).toBe('> * ?? -|~')
    expect(toAscii('▁▂▃▄▅▆▇█')).toBe('_.:-=+*#')
  })

  it('has an ASCII sign for every sign that the interface draws', () => {
    const files = globSync('{tui,cli/print,src/admin/contract}/**/*.{ts,tsx}', {
      cwd: join(import.meta.dirname, '../..'),
    })
    expect(files.length).toBeGreaterThan(50)
    for (const file of files) {
      const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
      const drawn = text.replace(/^\s*(\/\*\*|\*|\/\/).*$/gm, '').match(/\P{ASCII}/gu) ?? []
      const unknown = drawn.filter((sign) => toAscii(sign) === '?')
      expect(unknown, file).toEqual([])
    }
  })

  it('is edited as its characters are seen', () => {
    const family = '👩‍👩‍👧‍👦'
    const line = lineOf(`a${family}b`)
    const left = editLine(line, { name: 'left', text: '' })
    expect(left?.cursor).toBe(2)
    expect(editLine(left ?? line, { name: 'backspace', text: '' })?.text).toBe('ab')
    expect(editLine(lineOf('two words'), { name: 'ctrl-w', text: '' })?.text).toBe('two ')
    expect(editLine(line, { name: 'f5', text: '' })).toBeNull()
  })

  it('keeps its cursor in sight, however long it is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), fc.integer({ min: 8, max: 60 }), (given, width) => {
        const { before, under, after } = windowOf(lineOf(given), width)
        expect(stringWidth(before + under + after)).toBeLessThanOrEqual(Math.max(width, stringWidth(under)))
      }),
    )
  })
})

describe('long text', () => {
  it('is measured as often as it is long, also without a blank', () => {
    // What is measured is first asked whether it is plain.
    const asked = vi.spyOn(RegExp.prototype, 'test')
    const cost = (characters: number) => {
      asked.mockClear()
      expect(wrap('漢'.repeat(characters), 80)).toHaveLength(characters / 40)
      return asked.mock.calls.reduce((sum, [text]) => sum + text.length, 0)
    }
    const [short, long] = [cost(400), cost(4000)]
    asked.mockRestore()
    expect(long).toBeLessThan(short * 12)
  })
})

describe('a selection', () => {
  it('stays among the rows, and in sight', () => {
    const natural = fc.integer({ min: 0, max: 50 })
    fc.assert(
      fc.property(
        natural,
        natural,
        fc.integer({ min: -60, max: 60 }),
        natural,
        fc.integer({ min: 1, max: 30 }),
        (index, top, step, count, height) => {
          const moved = moveSelection({ index, top }, step, count, height)
          expect(moved.index).toBeGreaterThanOrEqual(0)
          expect(moved.index).toBeLessThan(Math.max(1, count))
          expect(moved.top).toBeLessThanOrEqual(moved.index)
          expect(moved.index).toBeLessThan(moved.top + height)
        },
      ),
    )
  })
})

describe('a flood of rows', () => {
  it('is kept to its last thousands, newest first', () => {
    const flow = new RowStream()
    for (let number = 0; number < 100_000; number++) flow.addRow({ number })
    expect(flow.rows[0]).toEqual({ number: 99_999 })
    expect(flow.rows.length).toBeLessThanOrEqual(2500)
  })

  it('is joined to what was there before, each row once', () => {
    const flow = new RowStream()
    flow.addRow({ id: 'req_3' })
    flow.addRow({ id: 'req_4' })
    flow.seed([{ id: 'req_3' }, { id: 'req_2' }, { id: 'req_1' }])
    flow.addRow({ id: 'req_2' })
    flow.addRow({ id: 'req_5' })
    expect(flow.rows.map((row) => Reflect.get(Object(row), 'id'))).toEqual([
      'req_5',
      'req_4',
      'req_3',
      'req_2',
      'req_1',
    ])
  })

  it('moves nothing while it is held, and is counted whole', () => {
    const flow = new RowStream()
    flow.seed([{ number: 2 }, { number: 1 }])
    flow.held = true
    for (let number = 0; number < 50_000; number++) flow.addRow({ number })
    expect(flow.rows).toEqual([{ number: 2 }, { number: 1 }])
    expect(flow.waiting).toBe(50_000)
    flow.release()
    expect(flow.rows[0]).toEqual({ number: 49_999 })
    expect(flow.waiting).toBe(0)
  })

  it('keeps its order when it is read anew, and what came meanwhile waits for the reader', () => {
    const ids = (flow: RowStream) => flow.rows.map((row) => Reflect.get(Object(row), 'id'))
    const rows = (...numbers: number[]) => numbers.map((number) => ({ id: `req_${number}` }))
    const flow = new RowStream()
    flow.begin()
    flow.seed(rows(3, 2, 1))
    flow.addRow({ id: 'req_4' })
    flow.begin()
    flow.addRow({ id: 'req_6' })
    flow.seed(rows(5, 4, 3))
    expect(ids(flow)).toEqual(['req_6', 'req_5', 'req_4', 'req_3', 'req_2', 'req_1'])
    flow.held = true
    flow.begin()
    flow.addRow({ id: 'req_8' })
    flow.seed(rows(8, 7, 6))
    expect([ids(flow)[0], flow.waiting]).toEqual(['req_6', 2])
    flow.release()
    expect(ids(flow).slice(0, 3)).toEqual(['req_8', 'req_7', 'req_6'])
    // The last one is not stored yet.
    flow.begin()
    flow.seed(rows(7, 6, 5))
    expect(ids(flow).slice(0, 3)).toEqual(['req_8', 'req_7', 'req_6'])
    // So much came that nobody knows what lies between: the list begins anew.
    flow.begin()
    flow.seed(rows(99, 98, 97))
    expect(ids(flow)).toEqual(['req_99', 'req_98', 'req_97'])
  })
})

describe('the terminal', () => {
  it.each([
    [{ TERM: 'xterm-256color', LANG: 'en_US.UTF-8' }, true],
    [{ TERM: 'xterm', LC_ALL: 'C.utf8', LANG: 'C' }, true],
    [{ TERM: 'linux', LANG: 'en_US.UTF-8' }, false],
    [{ TERM: 'dumb', LANG: 'en_US.UTF-8' }, false],
    [{ TERM: 'xterm', LANG: 'C' }, false],
    [{ LANG: 'en_US.UTF-8' }, false],
  ])('%o draws more than ASCII: %s', (environment, unicode) => {
    expect(readStyle(environment, true, false)).toEqual({ colour: true, unicode, utc: false })
  })

  it('is given the text to copy in base64', () => {
    expect(copySequence('sp_live_ä')).toBe(`\u001b]52;c;${Buffer.from('sp_live_ä').toString('base64')}\u0007`)
  })

  it.each([
    ['SIGTERM', 143, null],
    ['SIGHUP', 129, null],
    ['SIGINT', 130, null],
  ] as const)('is given back on %s, with the status of it', (signal, status, fault) => {
    const from = new EventEmitter()
    const left: unknown[] = []
    const stop = watchEnd(from as unknown as TerminalProcess, (...given) => left.push(given))
    from.emit(signal)
    expect(left).toEqual([[status, fault]])
    stop()
    expect(from.eventNames()).toEqual([])
  })

  it('is given back on a fault that nobody caught', () => {
    const from = new EventEmitter()
    const left: unknown[] = []
    watchEnd(from as unknown as TerminalProcess, (...given) => left.push(given))
    const fault = new Error('planted')
    from.emit('uncaughtException', fault)
    expect(left).toEqual([[1, fault]])
  })
})

it('draws a bar for each point, nothing for nothing', () => {
  expect(sparkline([0, 1, 4, 8], 10)).toBe('·▁▄█')
  expect(sparkline([0, 0], 10)).toBe('')
})
