import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { csvLine, parseCsv } from '../../../src/core/text/csv.ts'

describe('a line of CSV', () => {
  it('has plain values as they are, and nothing for what is missing', () => {
    expect(csvLine(['a', 1, -2.5, true, null, undefined, { b: [1] }])).toBe('a,1,-2.5,true,,,"{""b"":[1]}"\n')
    expect(csvLine(['a, b', 'say "x"', 'two\nlines', '-'])).toBe('"a, b","say ""x""","two\nlines",-\n')
  })

  it.each(['=1+1', '+1', '-1+1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '\n=1', '＝1'])('has no formula: %j', (text) => {
    expect(csvLine([text])).toMatch(/^"?'/)
  })

  it('has no control characters', () => {
    const line = csvLine(['\u001b]52;c;eA==\u0007\u001b[2J', 'a\u009bb\u202ec\r', { x: '\u007f' }])
    expect(line).toBe('\\u001b]52;c;eA==\\u0007\\u001b[2J,a\\u009bb\\u202ec\\u000d,"{""x"":""\\u007f""}"\n')
  })
})

describe('rows of CSV', () => {
  it.each<[string, string, string[][]]>([
    [
      'lines of either kind, with a byte order mark',
      '\uFEFFa,b\r\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['quoted cells', '"a, b","say ""x""","two\nlines"\n', [['a, b', 'say "x"', 'two\nlines']]],
    [
      'empty cells, and no empty lines',
      'a,,\n\n,b\n',
      [
        ['a', '', ''],
        ['', 'b'],
      ],
    ],
    ['a last line without its end', 'a\n1', [['a'], ['1']]],
    ['a quotation mark that is never closed', 'a\n"b,c', [['a'], ['b,c']]],
  ])('are read: %s', (_what, text, rows) => {
    expect(parseCsv(text)).toEqual(rows)
  })

  it('are what was written', () => {
    const cells = fc.array(fc.string({ unit: fc.constantFrom('a', ',', '"', ' ', '\n', 'ä') }), {
      minLength: 2,
      maxLength: 5,
    })
    fc.assert(
      fc.property(fc.array(cells, { maxLength: 5 }), (rows) => {
        expect(parseCsv(rows.map(csvLine).join(''))).toEqual(rows)
      }),
    )
  })
})
