import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatNames } from '../../src/core/format.ts'
import * as forms from '../../src/manifest/forms.ts'
import { canonical, type Fields, type Plain } from '../../src/manifest/resource.ts'

const refused = undefined

describe('a value of a file', () => {
  it.each<[string, forms.Form, unknown, Plain | undefined]>([
    ['a flag', forms.flag, true, true],
    ['a flag out of a variable', forms.flag, 'false', false],
    ['a flag in another word', forms.flag, 'yes', refused],
    ['a flag as a number', forms.flag, 1, refused],
    ['an empty text', forms.text, '', refused],
    ['a number as a text', forms.text, 5, refused],
    ['a status as a word', forms.word, 429, '429'],
    ['a word', forms.word, 'provider_timeout', 'provider_timeout'],
    ['a list as a word', forms.word, ['429'], refused],
    ['a whole number', forms.whole(0, 10), 10, 10],
    ['a whole number out of a variable', forms.whole(0, 10), ' 7 ', 7],
    ['one that is too large', forms.whole(0, 10), 11, refused],
    ['one below the least', forms.whole(1, 10), 0, refused],
    ['half a number', forms.whole(0, 10), 0.5, refused],
    ['blanks, which JavaScript takes for 0', forms.whole(0, 10), '  ', refused],
    ['no value, which JavaScript takes for 0', forms.whole(0, 10), null, refused],
    ['an empty list, which JavaScript takes for 0', forms.amount(10), [], refused],
    ['no number', forms.amount(10), 'NaN', refused],
    ['no end', forms.amount(10), 'Infinity', refused],
    ['a debt', forms.amount(10), -0.01, refused],
    ['an amount', forms.amount(10), '2.5', 2.5],
    ['a duration', forms.duration, '5s', 5000],
    ['a duration without its unit', forms.duration, 5, refused],
    ['a duration in a word', forms.duration, 'default', refused],
    ['a hedge', forms.hedgeAfter, 'p95', 'p95'],
    ['a hedge that would ask twice each time', forms.hedgeAfter, '1ms', refused],
    ['a size', forms.size, '1KiB', 1024],
    ['a day', forms.moment, '2027-01-31', '2027-01-31T00:00:00.000Z'],
    ['a time of another zone', forms.moment, '2027-01-31T12:00:00+02:00', '2027-01-31T10:00:00.000Z'],
    ['a day that no month has', forms.moment, '2027-02-31', refused],
    ['a span in place of a time', forms.moment, '30d', refused],
    ['one text as a list', forms.list('a list'), 'a', ['a']],
    ['a list with one text twice', forms.list('a list'), ['b', 'a', 'b'], ['b', 'a']],
    ['a list whose order means nothing', forms.list('a list', { sorted: true }), ['b', 'a'], ['a', 'b']],
    ['a list with a number', forms.list('a list'), ['a', 5], refused],
    ['pairs', forms.pairs, { team: 'search', size: 5, on: true }, { team: 'search', size: '5', on: 'true' }],
    ['pairs without a value', forms.pairs, { team: null, name: '' }, {}],
    ['pairs of lists', forms.pairs, { team: ['a'] }, refused],
    ['pairs as a list', forms.pairs, ['team'], refused],
    ['a provider for a lane', forms.providersByLane, { openai: 'azure' }, { openai: 'azure' }],
    ['a provider for no lane', forms.providersByLane, { opnai: 'azure' }, refused],
    ['a word for no value', forms.orWord(forms.size, 'none'), 'none', null],
    ['another word for no value', forms.orWord(forms.size, 'none'), 'default', refused],
    ['a shadow', forms.shadow, 'openai:gpt-4o', 'openai:gpt-4o'],
    ['a shadow with a weight', forms.shadow, 'openai:gpt-4o,weight=2', refused],
  ])('%s', (_what, form, value, read) => {
    expect(form.read(value)).toEqual(read)
  })
})

const size = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const shown = fc.string({
  minLength: 1,
  maxLength: 12,
  unit: fc.constantFrom('a', 'B', '7', ':', ',', '=', '*', '/', '.'),
})
const target = fc.record({
  provider: fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,8}$/),
  upstream_model: fc.option(fc.oneof(shown, fc.constantFrom('m,weight=3', 'a,format=chat', 'x:8b', 'a,b', ','))),
  weight: fc.oneof(fc.constantFrom(0, 1, 2.5, 1e-7, 1e21), fc.double({ min: 0, max: 1e6, noNaN: true })),
  priority: fc.nat(9),
  format: fc.constantFrom(null, ...formatNames),
})

describe('what is written is read as what it was', () => {
  const again = (form: forms.Form, value: Plain, siblings: Fields = {}) => form.read(form.write(value, siblings))

  it('of durations, sizes and moments, down to the last digit', () => {
    fc.assert(
      fc.property(
        size,
        fc.nat(36_525 * 86_400_000),
        fc.date({ noInvalidDate: true, min: new Date(0) }),
        (bytes, ms, at) => {
          fc.pre(at.getUTCFullYear() < 10_000)
          expect(again(forms.size, bytes)).toBe(bytes)
          expect(again(forms.duration, ms)).toBe(ms)
          expect(again(forms.moment, at.toISOString())).toBe(at.toISOString())
          expect(again(forms.orWord(forms.size, 'none'), null)).toBe(null)
        },
      ),
    )
  })

  it('of targets, also where a model looks like an option', () => {
    fc.assert(
      fc.property(
        fc.array(target, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('priority', 'cost'),
        (list, strategy) => {
          const read = again(forms.targets, list, { strategy })
          const filled = (Array.isArray(read) ? read : []).map((each, place) => {
            const { priority, ...rest } = each as { priority: number | null }
            return { ...rest, priority: priority ?? forms.defaultPriority(place, { strategy }) }
          })
          expect(canonical(filled)).toBe(canonical(list))
        },
      ),
      { numRuns: 300 },
    )
  })
})

describe('a target', () => {
  it.each([
    ['openai', { provider: 'openai', upstream_model: null, weight: 1, priority: null, format: null }],
    ['o:llama3:8b', { provider: 'o', upstream_model: 'llama3:8b', weight: 1, priority: null, format: null }],
    [
      'o:m,weight=2,priority=1,format=chat',
      { provider: 'o', upstream_model: 'm', weight: 2, priority: 1, format: 'chat' },
    ],
    [{ provider: 'o' }, { provider: 'o', upstream_model: null, weight: 1, priority: null, format: null }],
  ])('is %j', (value, read) => {
    expect(forms.targets.read(value)).toEqual([read])
    expect(forms.targets.read([value])).toEqual([read])
  })

  it.each([
    ...['', ':m', 'o:', { provider: 5 }, { provider: 'o', upstream_model: 5 }, { provider: 'o', weight: '2' }],
    ...[
      { provider: 'o', priority: '1' },
      { provider: 'o', format: 'chatty' },
      { provider: 'o', wieght: 2 },
      [[]],
      [null],
    ],
    [],
  ])('is not %j', (value) => {
    expect(forms.targets.read(value)).toBeUndefined()
  })
})
