import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mintGatewayKey } from '../../../src/core/secrets/gateway-key.ts'
import { findAll } from '../../../src/policy/detectors/detector.ts'
import { detectors } from '../../../src/policy/detectors/index.ts'
import { maskPlainText } from '../../../src/policy/detectors/mask.ts'
import { knownSecrets } from '../../../src/policy/detectors/secrets.ts'

const all = Object.values(detectors)
const mask = (text: string) => maskPlainText(text, (searched) => findAll(searched, all)).text
const png = `iVBORw0KGgo${'A'.repeat(2000)}==`

const riff = (type: string) =>
  Buffer.concat([Buffer.from(`RIFF\0\0\0\0${type}`), Buffer.alloc(1500)]).toString('base64')

/** What stands in a text, and what is left of it. */
const found: [string, string][] = [
  [`key ${mintGatewayKey()}!`, 'key [gateway key]!'],
  ['cut sp_live_0123456789abc', 'cut [gateway key]'],
  ['sk-ant-api03-abcdefgh12345678', '[provider key]'],
  ['use sk-proj-Ab1Ab1Ab1Ab1Ab1Ab1.', 'use [provider key]'],
  ['AIzaSyA-1234567890abcdefghijklmnopqrstu', '[provider key]'],
  ['AKIAIOSFODNN7EXAMPLE', '[provider key]'],
  ['Authorization: Bearer abcdefghijklmnop0', 'Authorization: Bearer [token]'],
  ['eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2', '[token]'],
  ['-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- x', '[private key] x'],
  ['-----BEGIN PRIVATE KEY-----\nabc', '[private key]'],
  ['mail jörg.o-neil+x@mail.exämple.co.uk.', 'mail [email address].'],
  ['<a@b.de>, "c@d.org"', '<[email address]>, "[email address]"'],
  ['call +49 (0)30 1234567 now', 'call [phone number] now'],
  ['+14155552671', '[phone number]'],
  ['card 4111 1111 1111 1111 12/27', 'card [card number] 12/27'],
  ['25 4111-1111-1111-1111', '25 [card number]'],
  ['378282246310005', '[card number]'],
  ['4222222222222', '[card number]'],
  ['6304000000000000000', '[card number]'],
  // The longer of two that begin together, and all of two of which the second sticks out.
  ['Bearer abcdefghijklmnop1@mail.example.org', 'Bearer [email address]'],
  [`${'sk-proj-Ab1'.padEnd(80, 'x')}@example.org!`, '[provider key]!'],
  ['a@b.de, then sp_live_0123456789abc', '[email address], then [gateway key]'],
  ['{"n":4111111111111111}', '{"n":[card number]}'],
  ['IBAN DE89 3704 0044 0532 0130 00 please', 'IBAN [IBAN] please'],
  ['gb82west12345698765432', '[IBAN]'],
  [`see data:image/png;base64,${png} there`, 'see [image/png, 1.5 KB] there'],
  [png, '[image/png, 1.5 KB]'],
  [riff('WEBP'), '[image/webp, 1.5 KB]'],
  [riff('WAVE'), '[audio/wav, 1.5 KB]'],
  [riff('RDIB'), '[base64, 1.5 KB]'],
  [`${'abcd'.repeat(19)}\n`.repeat(20), '[base64, 1.2 KB]\n'],
]

/** What looks a little like it. */
const innocent = [
  'sp_live_ is how gateway keys begin',
  'a task-oriented-and-well-written-word',
  'sk-learn-is-a-library-of-python',
  'Bearer of good news',
  'a @ b, @mention, user@localhost, 5 @ 3.50',
  '1 + 2345678901',
  '+1234567',
  '4111 1111 1111 1112',
  '1700000000000',
  '411111111111',
  '41111111111111111116',
  '0.4111111111111111',
  '12345678901234567890123',
  'DE88 3704 0044 0532 0130 00',
  'AB12 is a street',
  'x'.repeat(1000),
]

describe('the detectors', () => {
  it.each(found)('find %s', (text, masked) => {
    expect(mask(text)).toBe(masked)
  })

  it.each(innocent)('leave %s alone', (text) => {
    expect(mask(text)).toBe(text)
  })

  it('find a known secret wherever it stands, and no short word', () => {
    const find = knownSecrets(['a-very-secret-thing', 'EMPTY'])
    const text = 'EMPTY a-very-secret-thing, xa-very-secret-thingx'
    expect(maskPlainText(text, (searched) => findAll(searched, [find])).text).toBe('EMPTY [credential], x[credential]x')
  })

  const digits = (count: number) => fc.array(fc.integer({ min: 0, max: 9 }), { minLength: count, maxLength: count })
  const card = fc.tuple(fc.integer({ min: 2, max: 6 }), digits(14)).map(([first, rest]) => {
    const body = [first, ...rest]
    const last = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].find((digit) => luhn([...body, digit]) === 0)
    return [...body, last].join('')
  })
  const account = digits(18).map((body) => {
    const number = body.join('')
    return `DE${String(98n - (BigInt(`${number}131400`) % 97n)).padStart(2, '0')}${number}`
  })
  const email = fc.tuple(fc.stringMatching(/^[a-z][a-z0-9]{0,12}$/), fc.stringMatching(/^[a-z]{2,8}\.[a-z]{2,6}$/))
  const secret = fc.oneof(
    card,
    account,
    email.map((parts) => parts.join('@')),
    fc.constant(null).map(() => mintGatewayKey()),
    digits(12).map((all) => `+1${all.join('')}`),
  )
  const around = fc.string({ unit: fc.constantFrom('a', ' ', 'ü', '.', ',', '\n', '"', '/', '(', '🙂') })

  it('find each of its kind amid any text, and nothing in what is left', () => {
    fc.assert(
      fc.property(secret, around, around, (hidden, before, after) => {
        const masked = mask(`${before} ${hidden} ${after}`)
        expect(masked).not.toContain(hidden)
        expect(mask(masked)).toBe(masked)
      }),
    )
  })

  it('find in order and apart whatever the text', () => {
    const pieces = fc.constantFrom(
      'sp_live_',
      'sk-',
      'a@b.de',
      '4111111111111111',
      '+49301234567',
      'Bearer ',
      ' ',
      'x1',
      '@',
      '-',
    )
    fc.assert(
      fc.property(
        fc.array(pieces).map((all) => all.join('')),
        (text) => {
          let behind = 0
          for (const { start, end } of findAll(text, all)) {
            expect(start).toBeGreaterThanOrEqual(behind)
            expect(end).toBeGreaterThan(start)
            behind = end
          }
          expect(behind).toBeLessThanOrEqual(text.length)
        },
      ),
    )
  })
})

function luhn(digits: readonly (number | undefined)[]): number {
  const counted = digits.toReversed().map((digit = 0, place) => (place % 2 === 0 ? digit : digit * 2))
  return counted.reduce((sum, value) => sum + (value > 9 ? value - 9 : value), 0) % 10
}
