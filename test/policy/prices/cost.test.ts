import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fillPrice, type ModelPrice } from '../../../src/core/cost/model-price.ts'
import { nanoOfPico, picoPerToken, usdOfNano } from '../../../src/core/cost/money.ts'
import { blankUsageDetail, type TokenUsage, type UsageDetail } from '../../../src/core/record.ts'
import { costOf, unpricedText } from '../../../src/policy/prices/cost.ts'

const price = (rates: Partial<ModelPrice>) => fillPrice({ model: 'm', source: 'set', version: 'v', ...rates })
const tokens = (counts: Partial<TokenUsage>): TokenUsage => ({
  input: 0,
  output: 0,
  cache_read: 0,
  cache_write: 0,
  reasoning: 0,
  source: 'reported',
  ...counts,
})
const detail = (counts: Partial<UsageDetail>): UsageDetail => ({ ...blankUsageDetail, ...counts })
const sized = { per_image: { '512x512': 0.02, '1024x1024': 0.04, '1024x1024/hd': 0.08, '2048x2048': 0.09 } }
/** In nano-dollars. */
const invoice = (usage: Partial<TokenUsage> | null, rates: Partial<ModelPrice>, more: Partial<UsageDetail> = {}) =>
  costOf({ tokens: usage && tokens(usage), detail: detail(more) }, price(rates))

describe('the cost of a call, in nano-dollars', () => {
  it.each<[string, Partial<TokenUsage> | null, Partial<ModelPrice>, Partial<UsageDetail>, bigint | null]>([
    ['input and output', { input: 1000, output: 500 }, { input: 2.5, output: 10 }, {}, 7_500_000n],
    ['1,000 tokens of an embedding', { input: 1000 }, { input: 0.02 }, {}, 20_000n],
    ['one token that costs a fraction of a nano-dollar', { input: 1 }, { input: 0.0001 }, {}, 1n],
    [
      'cached tokens, which are within the input (Bifrost 904, Bifrost 3451, Bifrost 5354, langwatch 7018, 9router 2873, stakgraph PR 1688)',
      { input: 1000, cache_read: 900 },
      { input: 3, cache_read: 0.3 },
      {},
      570_000n,
    ],
    [
      'cache writes of five minutes and of an hour',
      { input: 1000, cache_write: 600 },
      { input: 3, cache_write: 3.75, cache_write_1h: 6 },
      { cache_write_1h: 200 },
      400n * 3000n + 400n * 3750n + 200n * 6000n,
    ],
    [
      'no part for more than its whole, whatever is reported',
      { input: 10, output: 10 },
      { input: 1, output: 1, audio_input: 2, image_input: 3, audio_output: 2, image_output: 3 },
      { audio_input: 4, image_input: 1e9, audio_output: 1e9, image_output: 1e9 },
      4n * 2000n + 6n * 3000n + 10n * 2000n,
    ],
    ['reasoning, which is within the output', { output: 100, reasoning: 60 }, { input: 1, output: 10 }, {}, 1_000_000n],
    [
      'reasoning with a rate of its own',
      { output: 100, reasoning: 60 },
      { input: 1, output: 10, reasoning: 2 },
      {},
      40n * 10_000n + 60n * 2000n,
    ],
    [
      'an answer of reasoning alone',
      { output: 60, reasoning: 60 },
      { input: 1, output: 10, reasoning: 2 },
      {},
      120_000n,
    ],
    [
      'what has no rate of its own as what it is a part of',
      { input: 60, output: 50, cache_read: 10, cache_write: 20 },
      { input: 3, output: 5 },
      { cache_write_1h: 5, audio_input: 15, audio_cached: 5, image_input: 4, audio_output: 6, image_output: 7 },
      60n * 3000n + 50n * 5000n,
    ],
    [
      'text alone where sound and images are dearer',
      { input: 10, output: 10 },
      { input: 1, output: 1, audio_input: 9, audio_output: 9, image_input: 9, image_output: 9 },
      {},
      20_000n,
    ],
    ['a prompt that was cached whole', { input: 100, cache_read: 100 }, { input: 3, cache_read: 0.3 }, {}, 30_000n],
    [
      'cached text where cached audio is dearer',
      { input: 100, cache_read: 100 },
      { input: 4, cache_read: 0.4, audio_cache_read: 5 },
      {},
      40_000n,
    ],
    [
      'audio and cached audio (langwatch 7048)',
      { input: 1000, output: 200, cache_read: 300 },
      { input: 4, output: 16, cache_read: 0.4, audio_input: 32, audio_output: 64, audio_cache_read: 0.5 },
      { audio_input: 500, audio_cached: 100, audio_output: 150 },
      // 300 text, 200 cached text, 400 audio, 100 cached audio; 50 text and 150 audio out.
      300n * 4000n + 200n * 400n + 400n * 32_000n + 100n * 500n + 50n * 16_000n + 150n * 64_000n,
    ],
    [
      'images in tokens',
      { input: 100, output: 1056 },
      { input: 5, image_input: 10, output: 10, image_output: 40 },
      { image_input: 80, image_output: 1056 },
      20n * 5000n + 80n * 10_000n + 1056n * 40_000n,
    ],
    ['whole images', null, { per_image: { '*': 0.04 } }, { images: 3 }, 120_000_000n],
    ['images of a size and quality', null, sized, { images: 2, image_size: '1024x1024/hd' }, 160_000_000n],
    ['images of a size', null, sized, { images: 2, image_size: '1024x1024/low' }, 80_000_000n],
    ['images of any other size', null, { per_image: { ...sized.per_image, '*': 0.03 } }, { images: 1 }, 30_000_000n],
    ['images whose size the provider chooses, at their most', null, sized, { images: 1 }, 90_000_000n],
    [
      'images of a size that only looks like a member',
      null,
      sized,
      { images: 1, image_size: 'constructor' },
      90_000_000n,
    ],
    ['images of a size like that with a quality', null, sized, { images: 1, image_size: 'toString/hd' }, 90_000_000n],
    ['images of a table that has no size', { input: 10 }, { input: 2, per_image: {} }, { images: 3 }, 20_000n],
    ['images in tokens alone', { input: 10 }, { input: 2 }, { images: 3, image_size: '512x512' }, 20_000n],
    ['what is priced for its output alone', { input: 9, output: 2 }, { output: 10 }, {}, 20_000n],
    ['part of a thousandth of a second', null, { per_second: 1 }, { seconds: 0.0001 }, 1_000_000n],
    ['characters', null, { per_character: 0.000015 }, { characters: 1000 }, 15_000_000n],
    ['seconds and a fraction', null, { per_second: 0.0001 }, { seconds: 12.5 }, 1_250_000n],
    ['searches beside tokens', { input: 10 }, { input: 2, per_search: 0.01 }, { searches: 2 }, 20_020_000n],
    [
      'searches in files and sessions of code',
      null,
      { per_file_search: 0.0025, per_container: 0.03 },
      { file_searches: 3, containers: 2 },
      67_500_000n,
    ],
    [
      'cached images once, at their own rate',
      { input: 1000, cache_read: 800 },
      { input: 4, cache_read: 0.4, image_input: 5, image_cache_read: 0.5 },
      { image_input: 600, image_cached: 500 },
      100n * 4000n + 100n * 5000n + 300n * 400n + 500n * 500n,
    ],
    [
      'cached images beside cached sound',
      { input: 1000, cache_read: 800 },
      { input: 4, cache_read: 0.4, audio_input: 32, image_input: 5, image_cache_read: 0.5 },
      { audio_input: 400, audio_cached: 300, image_input: 600, image_cached: 500 },
      100n * 32_000n + 100n * 5000n + 300n * 400n + 500n * 500n,
    ],
    [
      'video like images where it has no rate',
      { input: 500 },
      { input: 0.75, image_input: 1 },
      { video_input: 258 },
      242n * 750n + 258n * 1000n,
    ],
    ['video', { input: 500 }, { input: 0.2, image_input: 0.45, video_input: 12 }, { video_input: 500 }, 6_000_000n],
    ['what its price says nothing of', { input: 10 }, { per_second: 0.0001 }, {}, null],
    ['nothing', null, { input: 1, output: 1 }, {}, null],
  ])('counts %s', (_what, usage, rates, more, expected) => {
    expect(invoice(usage, rates, more)).toBe(expected)
  })

  const long = { input: 1.25, output: 10, cache_read: 0.125, long_context: { over: 200_000, input: 2.5, output: 15 } }

  it('takes the long-context rates for every token once the whole input is over the limit (litellm 30135, opik 6982)', () => {
    expect(invoice({ input: 200_000, output: 10 }, long)).toBe(200_000n * 1250n + 10n * 10_000n)
    expect(invoice({ input: 200_001, output: 10 }, long)).toBe(200_001n * 2500n + 10n * 15_000n)
    // A cached token has no long rate, so it keeps its own.
    expect(invoice({ input: 300_000, cache_read: 100_000 }, long)).toBe(200_000n * 2500n + 100_000n * 125n)
  })

  it('takes the tier that the answer states (litellm 13810, synaplan 1319, defog PR 303)', () => {
    const tiers = { input: 2, output: 8, flex: { input: 1, output: 4 }, priority: { input: 4, output: 16 } }
    const usage = { input: 1000, output: 1000 }
    expect(invoice(usage, tiers, { tier: 'default' })).toBe(10_000_000n)
    expect(invoice(usage, tiers, { tier: 'flex' })).toBe(5_000_000n)
    expect(invoice(usage, tiers, { tier: 'PRIORITY' })).toBe(20_000_000n)
    expect(invoice(usage, tiers, { tier: 'something-new' })).toBe(10_000_000n)
    const batch = { ...tiers, batch: { input: 0.5, output: 2 } }
    expect(invoice(usage, batch, { tier: 'batch' })).toBe(2_500_000n)
    expect(invoice(usage, batch, { tier: 'flex', batch: true })).toBe(2_500_000n)
    expect(invoice(usage, batch, { batch: false })).toBe(10_000_000n)
  })

  it('has batch, tier and long context as rates of their own, not as factors (litellm PR 39861)', () => {
    const rates = { ...long, batch: { input: 0.625, output: 5, long_context: { input: 1.2, output: 7 } } }
    expect(invoice({ input: 1000, output: 10 }, rates, { batch: true })).toBe(1000n * 625n + 10n * 5000n)
    expect(invoice({ input: 300_000, output: 10 }, rates, { batch: true })).toBe(300_000n * 1200n + 10n * 7000n)
  })

  it('never goes below zero or above the dearest rate of all tokens, whatever a provider reports', () => {
    const count = fc.nat({ max: 2_000_000 })
    const usages = fc.record({ input: count, output: count, cache_read: count, cache_write: count, reasoning: count })
    fc.assert(
      fc.property(usages, count, (usage, audio) => {
        const cost = invoice(
          usage,
          { input: 3, output: 15, cache_read: 0.3 },
          { audio_input: audio, audio_cached: audio },
        )
        const all = Object.values(usage).reduce((sum, each) => sum + each, 2 * audio)
        return cost !== null && cost >= 0n && cost <= nanoOfPico(BigInt(all) * picoPerToken(15))
      }),
    )
  })

  it('is the same where nothing but tokens is known', () => {
    const rates = price({ input: 2.5, output: 10, per_search: 1 })
    const used = tokens({ input: 1000, output: 500 })
    expect(costOf({ tokens: used, detail: null }, rates)).toBe(7_500_000n)
    expect(costOf({ tokens: used, detail: null }, price({ per_search: 1 }))).toBeNull()
    expect(costOf({ tokens: null, detail: null }, rates)).toBeNull()
  })

  it('names what it has no rate for', () => {
    const used = detail({ searches: 2, file_searches: 1, containers: 1 })
    expect(unpricedText('m', price({ input: 1, per_search: 0.01 }), { detail: used, cost: 1 })).toBe(
      'The price of m has no rate for searches in files (1), sessions of the code interpreter (1): its cost is without that.',
    )
    const all = price({ per_search: 0.01, per_file_search: 0.0025, per_container: 0 })
    expect(unpricedText('m', all, { detail: used, cost: 1 })).toBeNull()
    expect(unpricedText('m', all, { detail: null, cost: 1 })).toBeNull()
    expect(unpricedText('m', all, { detail: null, cost: null })).toContain('so it has no cost')
  })

  it('is exact in USD', () => {
    expect(usdOfNano(20_000n)).toBe(0.00002)
    expect(usdOfNano(7_500_000n)).toBe(0.0075)
  })
})
