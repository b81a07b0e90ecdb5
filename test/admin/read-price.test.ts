import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { givenPrice } from '../../src/admin/contract/prices/price-fields.ts'
import { checkRates } from '../../src/admin/handlers/prices/check-rates.ts'
import { readGivenPrices, readPrice } from '../../src/admin/handlers/prices/read-price.ts'
import { vendorOf } from '../../src/admin/handlers/prices/vendor-of.ts'
import { fieldsOfPrice } from '../../src/console/app/areas/settings/price-form.ts'
import { ratePaths } from '../../src/core/cost/rate-paths.ts'
import type { Provider } from '../../src/store/api.ts'

const read = (input: object) => readPrice({ model: 'm', force: false, ...input }, null, 'v1')

describe('a price that is set', () => {
  it('is what was given, at its place, and nothing else', () => {
    expect(read({ input: 0.5, batchInput: 0.25, maxOutput: 4096 })).toMatchObject({
      ...{ model: 'm', provider: null, source: 'set', version: 'v1', input: 0.5, output: null, max_output: 4096 },
      ...{ max_input: null, batch: { input: 0.25 }, flex: null, long_context: null, per_image: null },
    })
    expect(read({ input: 0 }).input).toBe(0)
  })

  it('has a rate at the least', () => {
    for (const input of [{}, { maxInput: 5 }, { perImage: [] }, { longContextOver: undefined }])
      expect(() => read(input)).toThrow('A price needs at least one rate.')
  })

  it.each([
    [{ input: 1, longContextOver: 200_000 }],
    [{ input: 1, longContextInput: 2 }],
    [{ input: 1, batchLongContextInput: 2 }],
  ])('has rates of long prompts with the length from which they hold, or neither: %j', (input) => {
    expect(() => read(input)).toThrow('Long-context rates and their limit belong together.')
  })

  it('has rates of long prompts', () => {
    const price = read({ input: 1, longContextInput: 2, batchLongContextInput: 1, longContextOver: 0 })
    expect(price).toMatchObject({ long_context: { input: 2, over: 0 }, batch: { long_context: { input: 1 } } })
  })

  it.each([
    [['0.04'], { '*': 0.04 }],
    [['1024x1024/high=0.167', '=0.1'], null],
    [['1024x1024/high=0.167', '*=0.1'], { '1024x1024/high': 0.167, '*': 0.1 }],
    [['a=0.1', 'a=0.2'], { a: 0.2 }],
    [['1.2.3'], null],
    [['a=b=0.1'], null],
    [['-0.1'], null],
    [['.'], null],
    [['a='], null],
    [[''], null],
  ])('of images %j is %j', (perImage, rates) => {
    if (rates === null) expect(() => read({ perImage })).toThrow('--per-image cannot be')
    else expect(read({ perImage }).per_image).toEqual(rates)
  })

  it.each([{ input: 10_001 }, { flexOutput: 1e6 }, { input: 1, longContextInput: 20_000, longContextOver: 1 }])(
    'is no million times what it should be, unless that is meant: %j',
    (input) => {
      expect(() => read(input)).toThrow('per million tokens.')
      expect(() => read({ ...input, force: true })).not.toThrow()
    },
  )

  it('is written by the console’s form as it was, whatever rates it has', () => {
    const rate = fc.option(
      fc.integer({ min: 0, max: 9999 }).map((cents) => cents / 100),
      { nil: undefined },
    )
    const rates = fc.record(Object.fromEntries(Object.keys(ratePaths).map((name) => [name, rate])))
    fc.assert(
      fc.property(rates, fc.nat(1e6), (given, over) => {
        const isLong = Object.entries(given).some(([name, value]) => /longContext/i.test(name) && value !== undefined)
        const price = read({ ...given, input: 1, ...(isLong ? { longContextOver: over } : {}) })
        const fields = fieldsOfPrice(price as Parameters<typeof fieldsOfPrice>[0])
        expect(readPrice({ force: false, ...fields, model: 'm' }, null, 'v1')).toEqual(price)
      }),
      { numRuns: 60 },
    )
  })

  it('of cents is not dear', () => {
    expect(() => checkRates(read({ input: 10_000, output: 0 }), false)).not.toThrow()
  })

  it.each([
    [{ input: 1e305 }, 'input of m is more than $100,000,000.00 per million tokens.'],
    [{ input: 1, batchOutput: 1e9 }, 'batch output of m is more than'],
    [{ input: 1, longContextInput: 1e9, longContextOver: 1 }, 'long-context input of m is more than'],
    [{ perSecond: 1e300 }, 'per_second of m is more than $10,000.00.'],
    [{ perImage: ['1024x1024=20000'] }, 'per_image 1024x1024 of m is more than $10,000.00.'],
    [{ input: 1e-7 }, 'input of m is less than $0.000001 per million tokens, which would be counted as nothing.'],
    [{ perCharacter: 1e-13 }, 'per_character of m is less than $0.000000000001, which'],
  ])('can be counted, whatever is forced: %j', (input, message) => {
    expect(() => read({ ...input, force: true })).toThrow(message)
  })

  it('can be as small as it is counted', () => {
    for (const input of [{ input: 1e-6 }, { perCharacter: 1e-12 }, { input: 0, perSecond: 0 }])
      expect(() => read(input)).not.toThrow()
  })

  it('has a name that a client can send', () => {
    expect(() => read({ model: 'm'.repeat(513), input: 1 })).toThrow('is too long.')
    expect(() => read({ model: 'm'.repeat(512), input: 1 })).not.toThrow()
  })
})

describe('prices in files', () => {
  const given = (files: Record<string, string>) => readGivenPrices(files, givenPrice)

  it('are one or a list in each', () => {
    const files = {
      'a.json': '{"model":"a","input":1}',
      'b.json': '[{"model":"b","input":2},{"model":"c","output":3}]',
    }
    expect(given(files).map(({ model }) => model)).toEqual(['a', 'b', 'c'])
  })

  it('may begin with a byte order mark, and have lines of Windows', () => {
    expect(given({ 'a.json': '\uFEFF[\r\n{"model":"a","input":1}\r\n]\r\n' })).toHaveLength(1)
  })

  it.each([
    [{ 'a.json': '[{"model":"a","input":1},{"model":"b","max_output":5}]' }, 'a.json, price 2: that of b has no rate.'],
    [{}, 'There is no price in the file.'],
    [{ 'a.json': '[]' }, 'There is no price in the file.'],
    [{ 'a.json': '{' }, 'a.json is not JSON'],
    [{ 'a.json': 'null' }, 'a.json, price 1: it names no model.'],
    [{ 'a.json': '{"prices":[]}' }, 'a.json, price 1: it names no model.'],
    [{ 'a.json': '[{"model":"a","input":1},{"model":"b","input":-1}]' }, 'a.json, price 2.input:'],
    [{ 'a.json': '[{"input":1}]' }, 'a.json, price 1: it names no model.'],
    [{ 'a.json': `[${'{},'.repeat(10_000)}{}]` }, 'a.json has more than 10000 prices.'],
  ])('are refused with the place of what is wrong', (files, message) => {
    expect(() => given(files as Record<string, string>)).toThrow(message)
  })
})

it.each([
  ['openai', {}, 'openai'],
  ['openai-compatible', { preset: 'groq' }, 'groq'],
  ['openai-compatible', {}, null],
  ['openai-compatible', { preset: 5 }, null],
])('a provider of the kind %s with %j has the prices of %j', (kind, settings, vendor) => {
  expect(vendorOf({ kind, revision: { settings } } as object as Provider)).toBe(vendor)
})
