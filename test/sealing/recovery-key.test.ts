import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import { decodeCrockford, encodeCrockford } from '../../src/sealing/crockford.ts'
import { makeKeyring } from '../../src/sealing/keyring.ts'
import {
  formatPublicHalf,
  makeBackupKey,
  mintRecoveryKey,
  openEnvelope,
  publicHalfId,
  readRecoveryKey,
} from '../../src/sealing/recovery-key.ts'
import { EnvelopeBroken, RecoveryKeyMistyped, RecoveryKeyWrong, SealBroken } from '../../src/sealing/seal-error.ts'

describe('Crockford’s base32', () => {
  it('reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        expect(decodeCrockford(encodeCrockford(bytes))).toEqual(bytes)
      }),
    )
  })

  it('is what others make of it', () => {
    expect(encodeCrockford(Buffer.from('foobar'))).toBe('CSQPYRK1E8')
    expect(decodeCrockford('csqpyrkie8')).toEqual(new Uint8Array(Buffer.from('foobar')))
    expect(decodeCrockford('U')).toBeNull()
  })
})

describe('a recovery key', () => {
  it('is read as people write it down', () => {
    const minted = mintRecoveryKey().reveal()
    expect(minted).toMatch(/^sp_recovery_[0-9A-HJKMNP-TV-Z]{7}(-[0-9A-HJKMNP-TV-Z]{7}){7}$/)
    const { id } = readRecoveryKey(new Secret(minted))
    const spellings = [
      minted.toLowerCase(),
      minted.replaceAll('-', ''),
      minted.replaceAll('-', ' '),
      `  ${minted}\n`,
      minted.replace('sp_recovery_', ''),
      minted.replaceAll('0', 'o').replaceAll('1', 'l'),
    ]
    for (const spelling of spellings) expect(readRecoveryKey(new Secret(spelling)).id).toBe(id)
  })

  it('with any character changed, dropped or doubled is told from a wrong one', () => {
    const minted = mintRecoveryKey().reveal()
    for (let at = 'sp_recovery_'.length; at < minted.length; at++) {
      if (minted[at] === '-') continue
      const other = minted[at] === 'A' ? 'B' : 'A'
      for (const part of [other, '', `${minted[at]}${minted[at]}`]) {
        const mistyped = minted.slice(0, at) + part + minted.slice(at + 1)
        expect(() => readRecoveryKey(new Secret(mistyped))).toThrow(RecoveryKeyMistyped)
      }
    }
  })

  it('opens what was sealed for its public half, and no other does', () => {
    const right = readRecoveryKey(mintRecoveryKey())
    const wrong = readRecoveryKey(mintRecoveryKey())
    const publicHalf = formatPublicHalf(right)
    expect(publicHalfId(publicHalf)).toBe(right.id)
    const { key, envelope } = makeBackupKey(publicHalf)
    const sealed = makeKeyring(key).seal('sk-canary', 'credential:a:b')
    expect(makeKeyring(openEnvelope(right, envelope)).open(sealed, 'credential:a:b').reveal()).toBe('sk-canary')
    expect(() => openEnvelope(wrong, envelope)).toThrow(RecoveryKeyWrong)
    // Not even when the envelope claims it.
    const claimed = openEnvelope(wrong, { ...envelope, recovery_key_id: wrong.id })
    expect(() => makeKeyring(claimed).open(sealed, 'credential:a:b')).toThrow(SealBroken)
  })

  it('says in words that an envelope names no key', () => {
    const recovery = readRecoveryKey(mintRecoveryKey())
    const { envelope } = makeBackupKey(formatPublicHalf(recovery))
    // All-zero, and one of the points of small order of RFC 7748.
    for (const point of [Buffer.alloc(32), Buffer.alloc(32, 1).fill(0, 1)]) {
      const forged = { ...envelope, ephemeral_key: point.toString('base64url') }
      expect(() => openEnvelope(recovery, forged)).toThrow(EnvelopeBroken)
    }
  })

  it('makes another key for each backup', () => {
    const publicHalf = formatPublicHalf(readRecoveryKey(mintRecoveryKey()))
    expect(makeBackupKey(publicHalf).key.keyId).not.toBe(makeBackupKey(publicHalf).key.keyId)
  })
})
