import { expect } from 'vitest'
import type { MockProvider } from './mock-provider.ts'
import type { Recorded } from './recording-fetch.ts'

/** Who the mocks' account is, as their headers and errors tell it. */
const account = /mock-?canary/i

/**
 * Nothing that a client got tells the provider's credential or account, or leads past the gateway: of every answer its headers and
 * its body, streams included.
 */
export async function expectNoLeak(mock: MockProvider, exchanges: readonly Recorded[]): Promise<void> {
  const { host } = new URL(mock.origin)
  const secrets = [...mock.credentials].flatMap((credential) => {
    const bytes = Buffer.from(credential)
    return [credential, bytes.toString('base64'), bytes.toString('hex'), encodeURIComponent(credential)]
  })
  for (const { method, url, headers, body } of exchanges) {
    const got = `${JSON.stringify([...headers])}\n${(await body).toString('latin1')}`
    const where = `${method} ${url}`
    for (const secret of secrets) expect(got.includes(secret), `a credential in the answer of ${where}`).toBe(false)
    expect(account.test(got), `an account in the answer of ${where}`).toBe(false)
    expect(got.includes(host), `the provider's address in the answer of ${where}`).toBe(false)
  }
}
