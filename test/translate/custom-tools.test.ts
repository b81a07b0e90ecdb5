import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CustomInputDecoder,
  customToolSchema,
  flatGrammar,
  nestedGrammar,
  unwrapCustomInput,
  wrapCustomInput,
} from '../../src/translate/custom-tools.ts'

function decode(pieces: readonly string[]): string {
  const decoder = new CustomInputDecoder()
  return pieces.map((piece) => decoder.push(piece)).join('') + decoder.end()
}

function cut(text: string, at: readonly number[]): string[] {
  const places = [0, ...at.map((place) => place % (text.length + 1)).sort((a, b) => a - b), text.length]
  return places.slice(1).map((end, index) => text.slice(places[index], end))
}

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('*** Begin Patch\n"ü"', '\ud83d', '\\', ''),
)

describe('the text of a custom tool within JSON', () => {
  it('comes out as it went in, wherever the pieces are cut', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat()), (text, at) => {
        expect(decode(cut(wrapCustomInput(text), at))).toBe(text)
      }),
    )
  })

  it('comes out of escapes and white space, too', () => {
    const written = '{ "input" :\n "\\u0041\\ud83d\\ude00\\/\\t" }'
    fc.assert(
      fc.property(fc.array(fc.nat()), (at) => {
        expect(decode(cut(written, at))).toBe('A😀/\t')
      }),
    )
  })

  it('is passed on as it comes', () => {
    const decoder = new CustomInputDecoder()
    expect(decoder.push('{"inp')).toBe('')
    expect(decoder.push('ut":"a\\')).toBe('a')
    expect(decoder.push('nb\\u00')).toBe('\nb')
    expect(decoder.push('fc"')).toBe('ü')
    expect(decoder.push('}')).toBe('')
    expect(decoder.end()).toBe('')
  })

  it('ends with what arrived when the arguments break off', () => {
    expect(decode(['{"input":"half \\u00'])).toBe('half ')
    expect(decode([''])).toBe('')
  })

  it('is what stands there when the model does not keep to the form', () => {
    expect(decode(['{"patch":', '"text"}'])).toBe('text')
    expect(decode(['"text"'])).toBe('text')
    expect(decode(['*** Begin'])).toBe('*** Begin')
    expect(decode(['{"a":1,"input":"text"}'])).toBe('text')
    expect(unwrapCustomInput('{"a":"x","b":"y"}')).toBe('{"a":"x","b":"y"}')
  })
})

describe('the grammar of a custom tool', () => {
  const flat = { type: 'grammar', syntax: 'lark', definition: 'start: x' }
  const nested = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: x' } }

  it('is one level deeper in chat', () => {
    expect(flatGrammar(nested)).toEqual(flat)
    expect(flatGrammar(flat)).toBe(flat)
    expect(nestedGrammar(flat)).toEqual(nested)
    expect(nestedGrammar(nested)).toBe(nested)
    expect(nestedGrammar({ type: 'text' })).toEqual({ type: 'text' })
  })

  it.each([flat, nested])('can be read by models that cannot be held to it', (grammar) => {
    const tool = { path: 'tools[0]', kind: 'custom', name: 'n', description: null, schema: null, strict: null } as const
    expect(JSON.stringify(customToolSchema({ ...tool, grammar }))).toContain('start: x')
  })
})
