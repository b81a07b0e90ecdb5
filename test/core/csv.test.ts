import { describe, expect, it } from 'vitest'
import { csvLine } from '../../src/core/csv.ts'

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
