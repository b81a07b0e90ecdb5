import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Certificate } from '../../../src/config/certificate.ts'
import type { Settings } from '../../../src/config/settings.ts'
import { Secret } from '../../../src/core/secrets/secret.ts'
import {
  announceCertificates,
  openForThreads,
  readCertificates,
  sameCertificate,
} from '../../../src/daemon/health/certificates.ts'
import { hasOpenssl, makeCertificate } from '../../support/certificate.ts'

const dayMs = 86_400_000
const now = Date.now()

/** One that is valid from so many days ahead to so many days ahead. */
const certificate = (from: number, to: number, more: { names?: string; key?: string; cert?: string } = {}) =>
  ({
    cert: more.cert ?? 'leaf',
    key: new Secret(more.key ?? 'private'),
    leaf: {
      subjectAltName: more.names,
      subject: 'CN=gateway',
      validFromDate: new Date(now + from * dayMs),
      validToDate: new Date(now + to * dayMs),
    },
  }) as unknown as Certificate

describe('what is said of certificates at a start', () => {
  const said = (certificates: Parameters<typeof announceCertificates>[0]) => {
    const lines: string[] = []
    const line = (level: string) => (message: string, fields?: Record<string, unknown>) =>
      void lines.push([level, message, fields?.listener, fields?.names].join(' | '))
    const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
    announceCertificates(certificates, log)
    return lines
  }

  it('is nothing without one, and the names of each that is valid', () => {
    expect(said({ gateway: null, console: null })).toEqual([])
    const [named, unnamed] = [certificate(-1, 30, { names: 'DNS:llm.example' }), certificate(-1, 30)]
    expect(said({ gateway: named, console: unnamed })).toEqual([
      'info | certificate | gateway | DNS:llm.example',
      'info | certificate | console | CN=gateway',
    ])
  })

  it('warns of one that clients will not believe', () => {
    const [over, early] = said({ gateway: certificate(-9, -1), console: certificate(2, 9) })
    expect(over).toMatch(/^warn \| certificate expired on \d{4}-.* \| gateway \| /)
    expect(early).toMatch(/^warn \| certificate valid only from \d{4}-.* \| console \| /)
  })
})

it('a certificate is the same where both its parts are', () => {
  const one = certificate(0, 1)
  expect(sameCertificate(null, null)).toBe(true)
  expect(sameCertificate(one, certificate(0, 1))).toBe(true)
  expect(sameCertificate(one, null)).toBe(false)
  expect(sameCertificate(one, certificate(0, 1, { key: 'renewed' }))).toBe(false)
  expect(sameCertificate(one, certificate(0, 1, { cert: 'renewed' }))).toBe(false)
})

it('sessions that were begun under another certificate cannot be resumed', () => {
  const [before, after] = [openForThreads(certificate(0, 1)), openForThreads(certificate(0, 1))]
  expect(before).toMatchObject({ cert: 'leaf', key: 'private' })
  expect(before.ticketKeys).toHaveLength(48)
  expect(before.ticketKeys).not.toEqual(after.ticketKeys)
})

describe.skipIf(!hasOpenssl)('certificates that the settings name (needs openssl)', () => {
  it('are read for each listener that has one, and refused where TLS cannot be spoken with them', () => {
    const directory = mkdtempSync(join(tmpdir(), 'certificates-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const files = makeCertificate(directory, 'gateway')
    const settings = (gateway: object | null, console: object | null) =>
      readCertificates({ gateway: { tls: gateway }, console: { tls: console } } as Pick<
        Settings,
        'gateway' | 'console'
      >)
    expect(settings(null, null)).toEqual({ gateway: null, console: null })
    const { gateway, console } = settings(null, { cert: files.cert, key: files.key })
    expect([gateway, console?.leaf.subject]).toEqual([null, expect.stringContaining('CN=')])
    const other = makeCertificate(directory, 'other')
    expect(() => settings({ cert: files.cert, key: other.key }, null)).toThrow(/gateway\.tls\.key.*does not match/)
    const broken = join(directory, 'broken.pem')
    writeFileSync(broken, 'no certificate')
    expect(() => settings(null, { cert: broken, key: files.key })).toThrow(/console\.tls\.cert/)
  })
})
