import { X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadSettings } from '../../src/config/load.ts'
import { writeDemoCall } from '../../src/daemon/demo-call.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'demo call-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const curl = (leaf: X509Certificate | null, environment: Record<string, string>, url: string) => {
  const { gateway } = loadSettings({ environment, flags: { dataDir: directory } })
  return /curl -s (.*) -H/.exec(writeDemoCall(gateway, gateway.url ?? url, leaf, 'sp_live_x'))?.[1]
}

describe.skipIf(!hasOpenssl)('the demo call over TLS (needs openssl)', () => {
  const over = (name: string, more: Record<string, string> = {}, url = 'https://127.0.0.1:8787') => {
    const { cert, key, pem } = makeCertificate(directory, name)
    const files = { SPGW_GATEWAY_TLS_CERT: cert, SPGW_GATEWAY_TLS_KEY: key }
    return curl(new X509Certificate(pem), { ...files, ...more }, url)?.replace(cert, 'CERT')
  }

  it('believes the certificate, under a name that it has', () => {
    expect(over('a.example')).toBe(
      "--cacert 'CERT' --connect-to ::127.0.0.1:8787 https://a.example:8787/v1/chat/completions",
    )
    expect(over('*.example', {}, 'https://[::1]:1')).toBe(
      "--cacert 'CERT' --connect-to ::[::1]:1 https://gateway.example:1/v1/chat/completions",
    )
    expect(over('localhost', {}, 'https://localhost:8787')).toBe(
      "--cacert 'CERT' https://localhost:8787/v1/chat/completions",
    )
  })

  it('leaves a public address to what the machine believes', () => {
    expect(over('a.example', { SPGW_GATEWAY_URL: 'https://public.example' })).toBe(
      'https://public.example/v1/chat/completions',
    )
  })
})

it('is the plain address without TLS', () => {
  expect(curl(null, {}, 'http://127.0.0.1:8787')).toBe('http://127.0.0.1:8787/v1/chat/completions')
})
