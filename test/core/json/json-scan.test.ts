import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cutSpan, scanElements, scanObject } from '../../../src/core/json/json-scan.ts'
import { maximumDepth, skipValue } from '../../../src/core/json/json-walk.ts'

const bytesOf = (text: string) => Buffer.from(text)

function found(text: string, ...wanted: string[]): [string, string][] {
  const bytes = bytesOf(text)
  const scan = scanObject(bytes, wanted)
  if (!scan.ok) throw new Error(`wrong at ${scan.at}`)
  return scan.members.map((member) => [member.name, bytes.toString('utf8', member.start, member.end)])
}

function wrongAt(text: string): number | null {
  const scan = scanObject(bytesOf(text), [])
  return scan.ok ? null : scan.at
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

describe('scanObject', () => {
  it.each([
    ['{"model":"a"}', [['model', '"a"']]],
    [' \t\r\n{ "model" : "a\\"b" } \n', [['model', '"a\\"b"']]],
    ['{"mod\\u0065l":"a"}', [['model', '"a"']]],
    [
      '{"model":"a","x":{"model":"inner"},"model":"b"}',
      [
        ['model', '"a"'],
        ['model', '"b"'],
      ],
    ],
    ['{"n":123456789012345678901234567890,"model":1e+400}', [['model', '1e+400']]],
    ['{"text":"\\\\","model":"é😀"}', [['model', '"é😀"']]],
    [`{"long":"${'x'.repeat(100)}\\"model\\":","model":[1,{"a":"]"}]}`, [['model', '[1,{"a":"]"}]']]],
    [`{"long":"${'\\\\'.repeat(60)}","model":null}`, [['model', 'null']]],
    ['{"models":1,"Model":2,"mode":3}', []],
    ['{}', []],
  ])('finds the member in %s', (text, members) => {
    expect(found(text, 'model')).toEqual(members)
  })

  it.each([
    ['', 0],
    ['\ufeff{}', 0],
    ['[]', 0],
    ['{"a":1', 6],
    ['{"a":1}}', 7],
    ['{"a":1} x', 8],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{a:1}', 1],
    ['{"a":[1,]}', 8],
    ['{"a":[1}', 7],
    ['{"a":{"b":1]}', 11],
    ['{"a":tru}', 8],
    ['{"a":01}', 6],
    ['{"a":1.}', 7],
    ['{"a":-}', 6],
    ['{"a":1e}', 7],
    ['{"a":"open', 10],
    ["{'a':1}", 1],
    ['{"a":NaN}', 5],
  ])('says where %j is wrong', (text, at) => {
    expect(wrongAt(text)).toBe(at)
  })

  it('refuses nesting deeper than its stack, in bounded memory', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
    expect(wrongAt(nested(maximumDepth))).toBeNull()
    expect(wrongAt(nested(maximumDepth + 1))).toBe(5 + maximumDepth)
  })

  it('tells of a text that begins as sealed values do, at any depth, and of no other', () => {
    const text = fc.constantFrom('sp1.', 'sp1.AQ', 'c3Ax', 'c3AxLg', 'sp1', 'c3A', 's', '"sp1.', ' c3Ax', 'SP1.')
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, text, fc.integer(), tie('list'), tie('object')),
      list: fc.array(tie('any'), { maxLength: 3 }),
      object: fc.dictionary(text, tie('any'), { maxKeys: 3 }),
    })).any
    const isSealed = (read: unknown): boolean =>
      typeof read === 'string' ? /^(sp1\.|c3Ax)/.test(read) : Object.values(read ?? {}).some(isSealed)
    fc.assert(
      fc.property(fc.array(value), fc.boolean(), (a, strict) => {
        const scan = scanObject(Buffer.from(JSON.stringify({ a })), [], undefined, null, strict)
        expect(scan).toMatchObject({ ok: true, sealed: isSealed(a) })
      }),
    )
  })

  it('reads every member as JSON.parse does', () => {
    fc.assert(
      fc.property(
        // Names that differ by the case of a letter alone are taken for one.
        fc.dictionary(fc.string(), fc.jsonValue()).filter((object) => {
          const folded = Object.keys(object).map((name) =>
            Buffer.from(name)
              .map((byte) => byte | 0x20)
              .join(),
          )
          return new Set(folded).size === folded.length
        }),
        fc.constantFrom(0, 1, '\t', '\r\n '),
        (object, indent) => {
          const text = JSON.stringify(object, null, indent)
          const members = found(text, ...Object.keys(object))
          expect(members.map(([name, value]) => [name, JSON.parse(value)])).toEqual(
            Object.entries(JSON.parse(text) as object),
          )
        },
      ),
    )
  })

  it('agrees with JSON.parse on what is an object, for texts with one edit', () => {
    const edit = fc.record({
      at: fc.nat(),
      cut: fc.nat(3),
      text: fc.string({ unit: fc.constantFrom(...'{}[]:,"01-.eE+ truefalsn'), maxLength: 3 }),
    })
    const plain = fc.dictionary(
      fc.constantFrom('a', 'model', 'b'),
      fc.jsonValue({ maxDepth: 3, stringUnit: fc.constantFrom('a', ' ', '{', '}', '[', ',', ':', 'é') }),
    )
    fc.assert(
      fc.property(plain, edit, (object, { at, cut, text }) => {
        const whole = JSON.stringify(object)
        const from = at % (whole.length + 1)
        const edited = whole.slice(0, from) + text + whole.slice(from + cut)
        expect(wrongAt(edited) === null).toBe(isObject(edited))
      }),
      { numRuns: 2000 },
    )
  })

  it('agrees with JSON.parse on the inside of strings where it is strict', () => {
    const piece = fc.constantFrom(
      'a',
      'é',
      '😀',
      '"',
      '\\',
      '\n',
      '\u0000',
      '\\u00e9',
      '\\u12',
      'F',
      '\\b',
      '\\q',
      '\\/',
      '0',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.boolean(), (pieces, isKey) => {
        const text = isKey ? `{"${pieces.join('')}":1}` : `{"a":["${pieces.join('')}"]}`
        expect(scanObject(bytesOf(text), [], undefined, null, true).ok).toBe(isObject(text))
      }),
      { numRuns: 3000 },
    )
  })
})

describe('a scan of hostile bytes', () => {
  const soup = fc.array(
    fc.oneof(
      fc.constantFrom(
        ...'{}[]:,"\\',
        '"a":',
        '"model":',
        '\\"',
        '\\\\',
        '\\u0061',
        'true',
        'null',
        '-0',
        '1e5',
        '.5',
        ' ',
        '\n',
        'é',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    ),
    { maxLength: 24 },
  )
  const around = fc.constantFrom(
    ['', ''],
    ['{"model":', '}'],
    ['{"a":[', '],"model":1}'],
    ['{"', '":1}'],
    ['{"a":"', '"}'],
  )
  /** So much that what stands before it may be a large value, whose strings are passed over. */
  const padding = ' '.repeat(17 * 1024)
  let valid = 0

  it('agrees with JSON.parse on what is an object, and on its members', () => {
    fc.assert(
      fc.property(soup, around, fc.boolean(), (pieces, [before = '', after = ''], long) => {
        const text = before + pieces.join('') + after + (long ? padding : '')
        const bytes = bytesOf(text)
        const scan = scanObject(bytes, ['model'], undefined, null, true)
        if (!long || isObject(text)) expect(scan.ok).toBe(isObject(text))
        if (!scan.ok || !isObject(text)) return
        valid++
        const last = scan.members.at(-1)
        const { model } = JSON.parse(text) as { model?: unknown }
        expect(last && JSON.parse(bytes.toString('utf8', last.start, last.end))).toEqual(model)
      }),
      { numRuns: 4000 },
    )
    expect(valid).toBeGreaterThan(300)
  })

  it('finds the same in a range, whatever stands around it', () => {
    const part = fc.tuple(soup, around).map(([pieces, [before = '', after = '']]) => before + pieces.join('') + after)
    fc.assert(
      fc.property(part, fc.nat(), fc.constantFrom('', '"', '}', ']', '":1}', '1}', ' }', '\\'), (text, cut, behind) => {
        const bytes = bytesOf(text)
        const end = cut % (bytes.length + 1)
        const alone = scanObject(bytes.subarray(0, end), ['model'], undefined, null, true)
        const within = Buffer.concat([bytesOf('"{[\\'), bytes.subarray(0, end), bytesOf(behind)])
        const found = scanObject(within, ['model'], { start: 4, end: 4 + end }, null, true)
        expect(found.ok ? found.end - 4 : null).toBe(alone.ok ? alone.end : null)
      }),
      { numRuns: 3000 },
    )
  })

  it.each([
    ['runs of backslashes', `"${'\\\\'.repeat(40_000)}\\""`],
    [
      'escaped quotes, near and far',
      JSON.stringify(Array.from({ length: 900 }, (_, at) => '"'.repeat(at % 9) + 'x'.repeat(at))),
    ],
    ['very many numbers', `[${Array.from({ length: 60_000 }, (_, index) => index / 7).join(',')}]`],
    ['very deep', `${'['.repeat(9999)}1${']'.repeat(9999)}`],
  ])('passes over %s', (_, json) => {
    expect(skipValue(bytesOf(`${json},"and what follows"`), 0)).toBe(Buffer.byteLength(json))
  })

  it('stops at more values than any request means, however many follow', () => {
    const [once, twice] = [4, 8].map((millions) => {
      const bytes = Buffer.alloc(2 * millions * 1_000_000, '1,')
      bytes.write('{"a":[')
      return scanObject(bytes, [])
    })
    expect(once).toMatchObject({ ok: false, tooMany: true })
    expect(twice).toEqual(once)
  })
})

describe('scanElements', () => {
  it('gives the spans of elements', () => {
    const bytes = bytesOf('x[ {"a":[1]} , "b,c" ,3]y')
    const elements = scanElements(bytes, { start: 1, end: bytes.length - 1 })
    expect(elements?.map(({ start, end }) => bytes.toString('utf8', start, end))).toEqual(['{"a":[1]}', '"b,c"', '3'])
    expect(scanElements(bytesOf('[ ]'), { start: 0, end: 3 })).toEqual([])
    expect(scanElements(bytesOf('{}'), { start: 0, end: 2 })).toBeNull()
    expect(scanElements(bytesOf('[1 2]'), { start: 0, end: 5 })).toBeNull()
  })
})

describe('cutSpan', () => {
  it.each([
    ['{"a":1,"usage":null,"b":2}', '{"a":1,"b":2}'],
    ['{"a": 1, "usage": null, "b": 2}', '{"a": 1, "b": 2}'],
    ['{"usage": null, "b": 2}', '{"b": 2}'],
    ['{ "usage":null\n,\n "b":2}', '{ "b":2}'],
    ['{"a":1 , "usage" : null }', '{"a":1  }'],
    ['{"usage":null}', '{}'],
  ])('leaves %s as %s', (text, expected) => {
    const bytes = bytesOf(text)
    const scan = scanObject(bytes, ['usage'])
    const member = scan.ok ? scan.members[0] : undefined
    if (member === undefined) throw new Error('no member')
    const cut = cutSpan(bytes, member)
    expect(text.slice(0, cut.start) + text.slice(cut.end)).toBe(expected)
  })
})

it('skipValue stops at the end of the value', () => {
  expect(skipValue(bytesOf('  {"a":1}tail'), 0)).toBe(9)
  expect(skipValue(bytesOf('12,'), 0)).toBe(2)
  expect(skipValue(bytesOf(' '), 0)).toBe(~1)
})
