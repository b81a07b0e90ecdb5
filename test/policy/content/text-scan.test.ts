import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ContentRule, detectorsOf } from '../../../src/core/policies/content-rules.ts'
import { disguisedBytes, plainText } from '../../../src/policy/content/plain-text.ts'
import { TextScan } from '../../../src/policy/content/text-scan.ts'
import { tryRules } from '../../../src/policy/content/try-rules.ts'
import { findAll } from '../../../src/policy/detectors/detector.ts'
import { detectors } from '../../../src/policy/detectors/index.ts'
import { all, contextOf, cut, key, pem, rule } from './scan-context.ts'

async function run(rules: readonly ContentRule[], pieces: readonly string[]): Promise<string> {
  const scan = new TextScan(await contextOf(rules))
  return pieces.map((piece) => scan.push(piece)).join('') + scan.end()
}

const secrets = [
  key,
  'sp_live_1234567890abcdef',
  'Bearer abcdef1234567890xyz',
  'eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc_def',
  pem,
  'jane.doe@example.co.uk',
  '+49 (30) 1234-5678',
  '4111 1111 1111 1111',
  'DE89 3704 0044 0532 0130 00',
]

describe('a text that comes in pieces', () => {
  it.each(secrets)('holds back all of %s, wherever it is cut', async (secret) => {
    const text = `It is ${secret}, and that is all.`
    const whole = await run(all, [text])
    expect(whole).toMatch(/\[[A-Z_]+_1\]/)
    for (let at = 0; at <= text.length; at++) expect(await run(all, [text.slice(0, at), text.slice(at)])).toBe(whole)
    expect(await run(all, [...text])).toBe(whole)
  })

  it('sees no token behind a token that ends in the word for one, wherever it is cut', async () => {
    const text = 'Bearer abcdef1234567890/Bearer abcdef1234567890xyz and that is all.'
    const whole = await run(all, [text])
    expect(whole).toBe('Bearer [TOKEN_1] abcdef1234567890xyz and that is all.')
    for (let at = 0; at <= text.length; at++) expect(await run(all, [text.slice(0, at), text.slice(at)])).toBe(whole)
    expect(await run(all, [...text])).toBe(whole)
  })

  it.each([
    ['characters that nobody sees', [...key].join('\u200b')],
    ['a soft hyphen', `${key.slice(0, 9)}\u00ad${key.slice(9)}`],
    [
      'what stands for bytes that are no UTF-8',
      `${key.slice(0, 2)}\ufffd${key.slice(2, 9)}\ufffd\ufffd${key.slice(9)}`,
    ],
    ['letters of full width', [...key].map((one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)).join('')],
    ['mathematical letters', key.replace('Abc', '\u{1d400}\u{1d41b}\u{1d41c}')],
    ['hyphens that break no line', key.replaceAll('-', '\u2011')],
  ])('is read without what hides it: %s', async (_what, hidden) => {
    const text = `It is ${hidden}, and that is all. \u{1f468}\u200d\u{1f469}`
    const written = 'It is [KEY_1], and that is all. \u{1f468}\u200d\u{1f469}'
    expect(await run(all, [text])).toBe(written)
    expect(await run(all, text.split(''))).toBe(written)
    const context = await contextOf(all)
    new TextScan(context).whole(`${key}\u200b `)
    expect(context.names).toEqual(['secrets'])
  })

  it.each([
    ['4111\u20111111\u20111111\u20111111', 'CARD_1'],
    ['4111\u00a01111\u202f1111\u20091111', 'CARD_1'],
    ['DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000', 'IBAN_1'],
    ['+49\u00a030\u2013123\u201145678', 'PHONE_1'],
  ])('is read with the hyphens and spaces that models write: %s', async (number, name) => {
    const text = `It\u00a0is ${number}, of 2010\u20132013.`
    const written = `It\u00a0is [${name}], of 2010\u20132013.`
    expect(await run(all, [text])).toBe(written)
    expect(await run(all, text.split(''))).toBe(written)
  })

  it('is listed with what hides it where rules are tried', async () => {
    const text = `Ask me\uff20example.org for sk\u2011proj\u2011Abc123Def456Ghi789, then.`
    const { matches } = await tryRules([{ policy: 'p', rules: all }], 'answer', text)
    const found = matches.map(({ kind, start, end }) => [kind, text.slice(start, end)])
    expect(found).toEqual([
      ['email address', 'me\uff20example.org'],
      ['provider key', 'sk\u2011proj\u2011Abc123Def456Ghi789'],
    ])
  })

  it('knows by the bytes of a text that something may be hidden in it', () => {
    const form = new RegExp(disguisedBytes)
    for (let point = 0; point < 0x10ffff; point += point < 0x3100 || point > 0xfdff ? 1 : 997) {
      const text = String.fromCodePoint(point)
      // A backslash may begin an escape: whoever asks looks for those as well.
      if (text !== '\\' && plainText(text) !== null)
        expect([point, form.test(Buffer.from(text).toString('latin1'))]).toEqual([point, true])
    }
    expect(form.test(Buffer.from('plain, größer, 中文, 👍 — “so”…').toString('latin1'))).toBe(false)
  })

  it('gives what the redaction of the whole text gives, however it is cut', async () => {
    const word = fc.oneof(
      fc.constantFrom(
        ...secrets,
        'sk-',
        'sk',
        '-----',
        'BEGIN',
        ' PRIVATE KEY-----',
        '-----END ',
        '@',
        'a@b.co',
        '+1',
        'basic ',
        '\\',
        '\\u0040',
        '\\u00',
        '\u200b',
      ),
      fc.constantFrom(
        ' ',
        '\n',
        '.',
        ',',
        '-',
        '4',
        '55',
        'DE',
        'de89',
        '3704 ',
        'eyJ',
        'AKIA',
        "'",
        'é',
        '漢字',
        '😀',
        '[',
        ']',
      ),
      fc.string({ unit: 'grapheme', maxLength: 6 }),
      fc.string({ unit: fc.constantFrom('4', '1', ' ', '-', 's', 'k', '@', '.', 'x'), maxLength: 30 }),
    )
    const texts = fc.array(word, { maxLength: 40 }).map((words) => words.join(''))
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(texts, lengths, async (text, sizes) => {
        expect(await run(all, cut(text, sizes))).toBe(await run(all, [text]))
      }),
      { numRuns: 600 },
    )
  })

  it('goes out in whole characters, and is redacted in whole characters', async () => {
    const rules = [rule('few', { pattern: '[^a]{2,4}b', longest: 4 })]
    const unit = fc.constantFrom('😀', '𝒂', 'a', 'b', 'x', '.', 'é', '\u200b')
    const pieces = fc.array(fc.string({ unit, minLength: 1, maxLength: 3 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(pieces, async (given) => {
        const scan = new TextScan(await contextOf(rules))
        const out = [...given.map((piece) => scan.push(piece)), scan.end()]
        expect(out.filter((piece) => !piece.isWellFormed())).toEqual([])
        expect(out.join('')).toBe(await run(rules, [given.join('')]))
      }),
      { numRuns: 600 },
    )
  })

  it('finds what the detectors find in the whole text', async () => {
    const texts = fc.array(fc.constantFrom(...secrets, ' ', ', ', 'word', '\n', '"'), { maxLength: 30 })
    const every = ['secrets', 'personal'].flatMap((group) => detectorsOf(group) ?? [])
    await fc.assert(
      fc.asyncProperty(texts, async (words) => {
        const text = words.join('')
        const left = (await run(all, [text])).replaceAll(/\[[A-Z_]+_\d+\]/g, '')
        const found = findAll(
          text,
          every.map((name) => detectors[name]),
        )
        let expected = ''
        let from = 0
        for (const { start, end } of found) {
          expected += text.slice(from, start)
          from = end
        }
        expect(left).toBe(expected + text.slice(from))
      }),
    )
  })

  it('lets ordinary words out at once', async () => {
    const scan = new TextScan(await contextOf([all[0] as ContentRule]))
    expect(scan.push('The quick brown fox')).toBe('The quick brown fox')
    expect(scan.push(' jumps over s')).toBe(' jumps over ')
    expect(scan.push('ome dogs, a')).toBe('some dogs, a')
    expect(scan.push(' key sk-')).toBe(' key ')
    expect(scan.push('learn ')).toBe('sk-learn ')
  })

  it.each(['\\', '\\u', '\\u00'])('leaves a text its end, which could have been an escape: %s', async (end) => {
    for (const secret of ['jane@example.com', key])
      for (const pieces of [[secret + end], [...(secret + end)]])
        expect(await run(all, pieces)).toMatch(/^\[[A-Z]+_1\]\\[u0]*$/)
    expect(await run(all, [`${key}${end}`])).toBe(`[KEY_1]${end}`)
  })

  it('is left as it is by a rule that only flags, which is told of all the same', async () => {
    const flags = [rule('seen', { detector: 'email-addresses', action: 'flag' })]
    const text = 'a@b.co and +49 30 1234567'
    for (const rules of [flags, [...all, ...flags], [...flags, ...all]]) {
      const context = await contextOf(rules)
      const out = rules === flags ? text : '[EMAIL_1] and [PHONE_1]'
      expect(new TextScan(context).whole(text)).toBe(out)
      expect(context.names).toContain('seen')
    }
  })

  it('gives the same value the same placeholder', async () => {
    expect(await run(all, ['a@b.co c@d.io a@b.co'])).toBe('[EMAIL_1] [EMAIL_2] [EMAIL_1]')
  })

  it('hides a private key of any length, and what follows it passes', async () => {
    const long = pem.replace('MIIEow', 'MIIEow'.repeat(5000))
    const text = `before ${long} after`
    for (const size of [1000, 4096, 7777, text.length])
      expect(await run(all, cut(text, [size]))).toBe('before [PRIVATE_KEY_1] after')
  })
})

describe('the work', () => {
  /** Characters that the rules look through for a text in single letters. */
  async function countWork(text: string): Promise<number> {
    const context = await contextOf(all)
    let work = 0
    const counted = context.rules.map((ready) => {
      const find = (part: string) => {
        work += part.length
        return ready.seeker.find(part)
      }
      return { ...ready, seeker: { ...ready.seeker, find } }
    })
    const scan = new TextScan({ ...context, rules: counted })
    for (const letter of text) scan.push(letter)
    scan.end()
    return work
  }

  it.each(['word ', 'sk-', '4', '4 ', 'a@', '-----BEGIN '])('doubles with a text of %j that doubles', async (unit) => {
    const text = unit.repeat(Math.ceil(20_000 / unit.length))
    const [once, twice] = [await countWork(text), await countWork(text + text)]
    expect(twice / once).toBeLessThan(2.2)
  })
})

describe('a pattern', () => {
  const patterns = [
    'ACME-\\d+',
    '(?i)project\\s+(?:x|yz){1,3}\\b',
    '^begin.*end$',
    'a+b*c?d',
    '[^a-c]\\d{2,4}|x(?:yz)+',
    '\\bfoo\\b',
    '(?:ab|a)(?:bc|c)',
    'ab{0,3}.{2}c',
    '\\Qa.b\\E\\d',
    '(?m)^a.*$',
    '\\bfoo\\w+',
    'foo.*\\b',
    'end|be.*\\bend$',
    'x.*\\Bc',
  ]
  it.each(patterns)('%s finds the same however the text is cut', async (pattern) => {
    const rules = [rule('own', { pattern, longest: 20 })]
    const parts = fc.constantFrom(
      'ACME-',
      '12',
      'a',
      'b',
      'c',
      'd',
      'x',
      'yz',
      ' ',
      '\n',
      'foo',
      'begin',
      'end',
      'project',
      'A.B',
      'a.b',
      '9',
    )
    const texts = fc.array(parts, { maxLength: 30 }).map((words) => words.join(''))
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 7 }), async (text, size) => {
        expect(await run(rules, cut(text, [size]))).toBe(await run(rules, [text]))
      }),
      { numRuns: 200 },
    )
  })

  /** `longest` is 20, and the first twenty characters are a match for whoever takes the cut for an end. */
  it.each([
    ['^begin.*end$', 'beginACME-foobfooendend', 'beginACME-foobfooendend'],
    ['\\bkey-\\w+\\b', 'key-0123456789abcdefghij', 'key-0123456789abcdefghij'],
    ['key-.*\\b', 'key-0123456789 abcdefghij', '[OWN_1]abcdefghij'],
    ['\\bkey-\\w+', 'key-0123456789abcdefghij', '[OWN_1]ghij'],
    ['\\Qkey-$\\E.*', 'key-$0123456789abcdefghij', '[OWN_1]fghij'],
    ['.*\\Qkey$', '0123456789abcdefkey$ and key$', '[OWN_1][OWN_2]'],
  ])('%s takes nothing for an end that is none', async (pattern, text, expected) => {
    const rules = [rule('own', { pattern, longest: 20 })]
    expect(await run(rules, [text])).toBe(expected)
    expect(await run(rules, [...text])).toBe(expected)
  })

  it.each(['\\w+\\b', '[a-z]+$'])(
    '%s finds a part of a word that is far too long, rather than nothing',
    async (pattern) => {
      const rules = [rule('own', { pattern, longest: 20 })]
      expect(await run(rules, ['a'.repeat(500)])).toMatch(/^(\[OWN_1\]){20}/)
    },
  )

  it('holds back only what could still grow into a match', async () => {
    const scan = new TextScan(await contextOf([rule('own', { pattern: 'ACME-\\d+' })]))
    expect(scan.push('The number is A')).toBe('The number is ')
    expect(scan.push('CME-1')).toBe('')
    expect(scan.push('23')).toBe('')
    expect(scan.push(' and')).toBe('[OWN_1] and')
  })
})
