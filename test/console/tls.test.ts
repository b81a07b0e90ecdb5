import { readFileSync } from 'node:fs'
import https from 'node:https'
import { expect, it } from 'vitest'
import { mintLink } from '../../src/sign-in/links.ts'
import { temporaryDirectory } from '../admin/gateway.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { openSite } from './open-site.ts'

it.skipIf(!hasOpenssl)('over HTTPS one signs in by the address that was reached, too (needs openssl)', async () => {
  const made = makeCertificate(temporaryDirectory(), 'console.example.com')
  const { listener, store } = await openSite({ certificate: { cert: made.pem, key: readFileSync(made.key, 'utf8') } })
  const origin = `https://127.0.0.1:${listener.port}`
  expect(listener.url).toBe(`https://localhost:${listener.port}`)
  const { path } = await mintLink(store, null)
  const post = (from: string) =>
    new Promise<{ status: number; cookie: string }>((resolve, reject) => {
      const headers = { origin: from, 'content-type': 'application/json' }
      const options = { method: 'POST', headers, agent: false, ca: made.pem, rejectUnauthorized: false }
      const request = https.request(`${origin}/auth/link`, options, (response) => {
        response.resume()
        resolve({ status: response.statusCode ?? 0, cookie: String(response.headers['set-cookie'] ?? '') })
      })
      request.on('error', reject).end(JSON.stringify({ token: path.replace('/link/', '') }))
    })
  // The same host without TLS is another origin: whoever sits between could be it.
  expect(await post(origin.replace('https:', 'http:'))).toMatchObject({ status: 403 })
  expect(await post(origin)).toEqual({ status: 200, cookie: expect.stringContaining('; Secure; ') })
})
