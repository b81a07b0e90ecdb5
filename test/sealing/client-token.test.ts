import { createSecretKey, randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClientTokens, deriveTokenKey, type TokenPurpose } from '../../src/sealing/client-token.ts'

const machineKey = createSecretKey(randomBytes(32))
const tokens = new ClientTokens(deriveTokenKey(machineKey))
const purposes: readonly TokenPurpose[] = ['upload', 'client-secret', 'auth-token']
const purpose = fc.constantFrom(...purposes)
const time = fc.integer({ min: 1, max: 2 ** 47 })

describe('a token', () => {
  it('opens to what was sealed, until its time, in every process with the same machine key', () => {
    fc.assert(
      fc.property(purpose, fc.string({ unit: 'binary' }), time, (what, payload, expiresAt) => {
        const token = tokens.seal(what, payload, expiresAt)
        const again = new ClientTokens(deriveTokenKey(machineKey))
        expect(again.open(what, token, expiresAt - 1)).toEqual({ state: 'open', payload, expiresAt })
        expect(again.open(what, token, expiresAt)).toEqual({ state: 'expired', expiresAt })
        expect(token).toMatch(/^[\w-]+$/)
      }),
    )
  })

  it('opens for no other purpose, with no bit changed, and under no other machine key', () => {
    const other = new ClientTokens(deriveTokenKey(createSecretKey(randomBytes(32))))
    fc.assert(
      fc.property(purpose, purpose, fc.string(), time, fc.nat(), (what, wrong, payload, expiresAt, bit) => {
        const token = tokens.seal(what, payload, expiresAt)
        const changed = Buffer.from(token, 'base64url')
        changed[(bit >> 3) % changed.length]! ^= 1 << (bit & 7)
        const invalid = { state: 'invalid' }
        expect(tokens.open(what, changed.toString('base64url'), 0)).toEqual(invalid)
        expect(other.open(what, token, 0)).toEqual(invalid)
        if (wrong !== what) expect(tokens.open(wrong, token, 0)).toEqual(invalid)
      }),
    )
  })

  it('is nothing else than one of these', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(tokens.open('upload', text, 0)).toEqual({ state: 'invalid' })
      }),
    )
    const token = tokens.seal('upload', 'x', 1)
    for (const loose of [`${token}=`, `${token} `, token.slice(0, -1), '', `${token}A`])
      expect(tokens.open('upload', loose, 0)).toEqual({ state: 'invalid' })
  })

  it('shows neither payload nor key', () => {
    const token = tokens.seal('upload', 'the-secret-itself', 1)
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('the-secret-itself')
    const key = Buffer.from(deriveTokenKey(machineKey))
    expect(key.equals(machineKey.export())).toBe(false)
    expect(inspect(tokens, { depth: 9, showHidden: true })).not.toContain(key.toString('hex').slice(0, 8))
  })

  it('cannot be made or opened without a key', () => {
    const none = new ClientTokens(new Uint8Array())
    expect(() => none.seal('upload', 'x', 1)).toThrow()
    expect(() => none.open('upload', tokens.seal('upload', 'x', 1), 0)).toThrow()
  })
})
