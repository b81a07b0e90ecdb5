import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scanFor } from '../../../src/policy/content/arguments-scan.ts'
import { all, contextOf, cut, key, pem, rule } from './scan-context.ts'

describe('arguments', () => {
  async function runArguments(pieces: readonly string[], rules = all) {
    const scan = scanFor({ isJson: true }, await contextOf(rules))
    return pieces.map((piece) => scan.push(piece)).join('') + scan.end()
  }

  it('are searched by their meaning, and stay JSON, wherever they are cut', async () => {
    const hidden = `{"\\u006bey": "${key.replace('k', '\\u006b')}", "n": 4111111111111111, "pem":"${JSON.stringify(pem).slice(1, -1)}","d\\ne": [1.5e3, true, null, "\\u00e9\\\\"]}`
    const whole =
      '{"\\u006bey": "[KEY_1]", "n": "[CARD_1]", "pem":"[PRIVATE_KEY_1]","d\\ne": [1.5e3, true, null, "\\u00e9\\\\"]}'
    for (let at = 0; at <= hidden.length; at++)
      expect(await runArguments([hidden.slice(0, at), hidden.slice(at)])).toBe(whole)
    expect(await runArguments([...hidden])).toBe(whole)
  })

  it('are searched for numbers of any length where a pattern looks for them', async () => {
    const digits = [rule('cvv', { pattern: '\\b\\d{3}\\b' })]
    const json = '{"cvv": 123, "code":"123", "more":[7, 1234, 999,true]}'
    const hidden = '{"cvv": "[CVV_1]", "code":"[CVV_1]", "more":[7, 1234, "[CVV_2]",true]}'
    expect(await runArguments([json], digits)).toBe(hidden)
    expect(await runArguments([...json], digits)).toBe(hidden)
  })

  it('stay JSON whatever they hold', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), fc.integer({ min: 1, max: 9 }), async (json, size) => {
        const out = await runArguments(cut(json, [size]))
        expect(() => JSON.parse(out)).not.toThrow()
      }),
    )
  })

  it.each(['\\b', '\\f', '\\n', '\\r', '\\t', '\\"', '\\\\', '\\/'])(
    'hide an address beside the escape %s, which stays whole',
    async (written) => {
      const [json, hidden] = [
        `{"to":"${written}jane@example.com${written}joe@example.org${written}"}`,
        `{"to":"${written}[EMAIL_1]${written}[EMAIL_2]${written}"}`,
      ]
      expect(await runArguments([json])).toBe(hidden)
      expect(await runArguments([...json])).toBe(hidden)
    },
  )

  it('hide a token behind an escaped tab', async () => {
    expect(await runArguments(['"Bearer\\tabcdef1234567890xyz"'])).toBe('"Bearer\\t[TOKEN_1]"')
  })

  it('are read with escapes that are none, which stay as they are written', async () => {
    expect(await runArguments(['"\\q \\u12G4 jane@example.com \\u00"'])).toBe('"\\q \\u12G4 [EMAIL_1] \\u00"')
    expect(await runArguments(['"\\u1@example.com, then"'])).toBe('"[EMAIL_1], then"')
    expect(await runArguments(['"sk\\u2011proj\\u2011Abc123Def456Ghi789"'])).toBe('"[KEY_1]"')
  })

  it('stay as they are where they are cut off', async () => {
    const json = '{"a":["x\\u00e9\\ny", 12345, true],"b":"\\u0041\\\\"}'
    for (let at = 0; at <= json.length; at++)
      expect(scanFor({ isJson: true }, await contextOf(all)).whole(json.slice(0, at))).toBe(json.slice(0, at))
  })

  it('hide a private key of any length, and what follows it stays as it is written', async () => {
    const long = JSON.stringify(pem.replace('MIIEow', 'MIIE\n'.repeat(3000)))
    const json = `{"pem":${long.slice(0, -1)} \\u00e9, jane@example.com"}`
    for (const size of [1000, 4096, 7777, json.length])
      expect(await runArguments(cut(json, [size]))).toBe('{"pem":"[PRIVATE_KEY_1] \\u00e9, [EMAIL_1]"}')
  })

  it('hide a number of four digits that a rule looks for', async () => {
    const rules = [rule('pin', { pattern: '\\b\\d{4}\\b' })]
    expect(await runArguments(['{"pin":1234,"n":', '12345}'], rules)).toBe('{"pin":"[PIN_1]","n":12345}')
  })

  it.each([
    ['a text', ['{"to":"jane@', 'example.com"', ',"and":"more"}']],
    ['a number', ['{"card":4111', '111111111111', ',"and":"more"}']],
    ['a number at the end', ['4111', '111111111111']],
  ])('end where %s is blocked, of which nothing comes out', async (_, pieces) => {
    const context = await contextOf([rule('stop', { detector: 'personal', action: 'block' })])
    const scan = scanFor({ isJson: true }, context)
    const out = pieces.map((piece) => scan.push(piece)).join('') + scan.end()
    expect(pieces[0]?.startsWith(out)).toBe(true)
    expect(out).not.toMatch(/jane|4111/)
    expect(context.names).toEqual(['stop'])
    expect(scan.push('"more"') + scan.end()).toBe('')
  })
})
