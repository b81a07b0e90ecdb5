import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkDates, readCertificate } from '../../src/config/certificate.ts'
import { SettingsRefused } from '../../src/config/settings-refused.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'certificate-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const at = (name: string) => join(directory, name)

function refusal(cert: string, key: string): string {
  try {
    readCertificate('gateway.tls', { cert: at(cert), key: at(key) })
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    return error.message.replaceAll(`${directory}/`, '')
  }
  return 'taken'
}

describe.skipIf(!hasOpenssl)('a certificate (needs openssl)', () => {
  beforeEach(() => {
    makeCertificate(directory, 'a.example')
    makeCertificate(directory, 'b.example')
    writeFileSync(at('text'), 'hello')
  })

  it('is taken with its key, which cannot be printed', () => {
    const certificate = readCertificate('gateway.tls', { cert: at('a.example.pem'), key: at('a.example.key') })
    expect(certificate.leaf.checkHost('a.example')).toBe('a.example')
    const body = readFileSync(at('a.example.key'), 'utf8').split('\n')[1] ?? ''
    expect(body.length).toBeGreaterThan(20)
    expect(inspect(certificate, { depth: 9 }) + JSON.stringify(certificate)).not.toContain(body)
    const day = 86_400_000
    expect(checkDates(certificate, Date.now())).toBeNull()
    expect(checkDates(certificate, Date.now() + 3 * day)).toMatch(/^expired on 20/)
    expect(checkDates(certificate, Date.now() - day)).toMatch(/^valid only from 20/)
  })

  it.each([
    ['none.pem', 'a.example.key', 'gateway.tls.cert: none.pem: there is no such file'],
    ['a.example.pem', 'none.key', 'gateway.tls.key: none.key: there is no such file'],
    ['.', 'a.example.key', 'gateway.tls.cert: : cannot be read (EISDIR)'],
    ['text', 'a.example.key', 'gateway.tls.cert: text: contains no PEM certificate'],
    ['a.example.key', 'a.example.key', 'gateway.tls.cert: a.example.key: contains no PEM certificate'],
    ['a.example.pem', 'text', 'gateway.tls.key: text: contains no PEM private key'],
    ['a.example.pem', 'a.example.pem', 'gateway.tls.key: a.example.pem: contains no PEM private key'],
    ['a.example.pem', 'b.example.key', 'gateway.tls.key: b.example.key: does not match a.example.pem'],
  ])('is refused: %s with %s', (cert, key, expected) => {
    expect(refusal(cert, key).replace(directory, '')).toBe(expected)
  })

  it('is refused with a key behind a passphrase, and says so', () => {
    const clear = createPrivateKey(readFileSync(at('a.example.key')))
    const lock = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const
    const locked = clear.export(lock)
    writeFileSync(at('locked.key'), locked)
    expect(refusal('a.example.pem', 'locked.key')).toBe(
      'gateway.tls.key: locked.key: is encrypted: use a key without a passphrase',
    )
  })
})
