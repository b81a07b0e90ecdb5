import { describe, expect, it } from 'vitest'
import type { RuleDetector } from '../../../src/core/policies/content-rules.ts'
import { TextScan } from '../../../src/policy/content/text-scan.ts'
import { contextOf, key, pem, rule } from './scan-context.ts'

const open = async (detector: RuleDetector) => new TextScan(await contextOf([rule('own', { detector })]))

async function hide(detector: RuleDetector, pieces: readonly string[]): Promise<string> {
  const scan = await open(detector)
  return pieces.map((piece) => scan.push(piece)).join('') + scan.end()
}

describe('what may still become a secret', () => {
  it.each<[RuleDetector, string, string]>([
    ['phone-numbers', '+49 (30) 1234-5678', '[PHONE_1] is it'],
    ['card-numbers', '4111-1111-1111-1111', '[CARD_1] is it'],
    ['card-numbers', '4111 1111 1111 1111', '[CARD_1] is it'],
    ['email-addresses', `jane@${'the-name-of-a-long-host.'.repeat(4)}com`, '[EMAIL_1] is it'],
    ['email-addresses', `${'j'.repeat(64)}@example.com`, '[EMAIL_1] is it'],
    ['account-numbers', 'DE89370400440532013000', '[IBAN_1] is it'],
    ['bearer-tokens', 'Basic abcdef1234567890xyz', 'Basic [TOKEN_1] is it'],
    ['provider-keys', key, '[KEY_1] is it'],
    ['private-keys', `${pem} and ${pem.replace('MIIEow', 'MIIBVQ')}`, '[PRIVATE_KEY_1] and [PRIVATE_KEY_2] is it'],
  ])('of %s is held back from the first letter of a text on: %s', async (detector, secret, hidden) => {
    const text = `${secret} is it`
    for (let at = 0; at <= text.length; at++)
      expect(await hide(detector, [text.slice(0, at), text.slice(at)])).toBe(hidden)
    expect(await hide(detector, [...text])).toBe(hidden)
  })

  it.each<[RuleDetector, string, string]>([
    ['gateway-keys', 'They call it ', 'sp_'],
    ['provider-keys', 'A disk-', ''],
    ['provider-keys', 'The dash ', 'sk-'],
    ['bearer-tokens', 'They wrote: heyJ', ''],
    ['bearer-tokens', 'The bearer ', 'abc'],
    ['private-keys', 'A line -- ', '-----BEG'],
    ['private-keys', 'A -----BEGINNING of 7', ''],
    ['phone-numbers', 'Call 123 (45', ''],
    ['phone-numbers', 'Call 0 ', '+49 (3'],
    ['card-numbers', 'The year-', ''],
    ['card-numbers', 'The year ', '2024 '],
    ['account-numbers', 'The XDE8', ''],
    ['account-numbers', 'The word word', ''],
    ['account-numbers', 'The account ', 'DE89 37'],
    ['account-numbers', 'The letter ', 'D'],
    ['email-addresses', 'Write to ', 'jane'],
  ])('of %s is all that is held back: %s | %s', async (detector, out, held) => {
    const scan = await open(detector)
    expect(scan.push(out + held)).toBe(out)
    expect(scan.held).toBe(held.length)
    expect(scan.end()).toBe(held)
    expect([scan.held, scan.end()]).toEqual([0, ''])
  })
})

describe('a secret that is longer than anything that is held', () => {
  const long = 'a1B2'.repeat(5000)
  it.each<[RuleDetector, string, string]>([
    ['gateway-keys', `sp_live_${long}`, '[KEY_1]'],
    ['provider-keys', `sk-proj-${long}`, '[KEY_1]'],
    ['bearer-tokens', `Bearer ${long}`, 'Bearer [TOKEN_1]'],
    ['private-keys', pem.replace('MIIEow', long), '[PRIVATE_KEY_1]'],
  ])('of %s is hidden to its end, and no letter behind it', async (detector, secret, hidden) => {
    const text = `It is ${secret}, and that is all.`
    for (const size of [1000, 4096, 8191, text.length]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
      expect(await hide(detector, pieces)).toBe(`It is ${hidden}, and that is all.`)
    }
  })
})
