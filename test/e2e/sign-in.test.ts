import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, hasBrowser, openBrowser, openPage, type Page, signIn } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type IdentityProvider, oidcClient, startIdentityProvider } from '../support/identity-provider.ts'

const password = 'correct horse battery'
/** Wherever in the console that is. */
const inside = (page: Page) => page.getByRole('button', { name: 'Account', exact: true }).waitFor()

async function leave(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account', exact: true }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
  // Which nobody needs to be told who ended it.
  expect(await page.getByText('session has ended').count()).toBe(0)
}

async function enterPassword(page: Page): Promise<void> {
  await page.getByLabel('Name').fill('owner')
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

describe.skipIf(!hasBrowser)('an operator before a browser (needs chromium)', () => {
  let browser: Browser
  let provider: IdentityProvider
  let gateway: TestGateway
  beforeAll(async () => {
    provider = await startIdentityProvider(afterAll)
    const config = `console:
  oidc:
    issuer: ${provider.issuer}
    client_id: ${oidcClient.id}
    client_secret: \${TEST_OIDC_SECRET}
    name: Example
    roles:
      platform: viewer
`
    const environment = { TEST_OIDC_SECRET: oidcClient.secret }
    ;[browser, gateway] = await Promise.all([openBrowser(), startGateway({ config, environment })])
    provider.open(`${gateway.consoleUrl}/auth/oidc/callback`)
  })
  afterAll(() => Promise.all([browser?.close(), gateway?.stop()]))

  it('comes in by link, then by password, then with a code too', async () => {
    const page = await openPage(browser)
    await signIn(page, gateway)
    await page.goto(`${gateway.consoleUrl}/account`)
    await page.getByLabel('New password').fill(password)
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('Password changed').waitFor()
    await leave(page)
    await enterPassword(page)
    await inside(page)
    await page.goto(`${gateway.consoleUrl}/keys?project=default`)
    await page.getByText('No keys yet').waitFor()
    await gateway.admin.sessions.revoke({ operator: 'owner' })
    await page.getByText('Your session has ended').waitFor()
    await enterPassword(page)
    await page.waitForURL('**/keys?project=default')
    await page.goto(`${gateway.consoleUrl}/account`)
    await page.getByRole('button', { name: 'Set up authenticator' }).click()
    const secret = (await page.locator('.totp-secret code').textContent()) ?? ''
    const codeAt = (shift: number) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + shift })
    await page.getByLabel('Authenticator code').fill(codeAt(0))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('Authenticator added').waitFor()
    await leave(page)
    await enterPassword(page)
    await page.getByLabel('Authenticator code').fill(codeAt(30_000))
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await inside(page)
    expect(page.faults()).toEqual([])
    await page.context().close()
  })

  it('comes in with a passkey', async () => {
    const page = await openPage(browser)
    const session = await page.context().newCDPSession(page)
    await session.send('WebAuthn.enable')
    await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
      },
    })
    await signIn(page, gateway)
    await page.goto(`${gateway.consoleUrl}/account`)
    await page.getByLabel('Passkey name').fill('laptop')
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await page.getByText('Passkey added').waitFor()
    await leave(page)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await inside(page)
    expect(page.faults()).toEqual([])
    await page.context().close()
  })

  it('comes in through an identity provider, if it gives him a role', async () => {
    provider.groups.anna = ['platform']
    const page = await openPage(browser)
    const throughProvider = async (name: string) => {
      await page.goto(`${gateway.consoleUrl}/sign-in`)
      await page.getByRole('link', { name: 'Continue with Example' }).click()
      await page.locator('input[name=login]').fill(name)
      await page.locator('input[name=password]').fill('any')
      for (const asked of ['login', 'consent'])
        await page.locator(`form:has([name=prompt][value=${asked}]) button[type=submit]`).click()
    }
    await throughProvider('anna')
    await inside(page)
    await page.context().clearCookies()
    await throughProvider('ben')
    await page.getByText('gives you no role here').waitFor()
    expect(page.faults()).toEqual([])
    await page.context().close()
  })

  it('is told in plain words what was wrong', async () => {
    const page = await openPage(browser)
    const { url } = await gateway.admin.console.link({ operator: 'owner' })
    await page.goto(`${url.slice(0, -2)}xx`)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This link has been used or has expired.').waitFor()
    // A link of somebody else's puts no words into the console's mouth.
    await page.goto(`${gateway.consoleUrl}/sign-in?error=Run%20this%20on%20the%20machine`)
    await page.getByLabel('Password').waitFor()
    expect(await page.getByText('Run this on the machine').count()).toBe(0)
    await page.goto(`${gateway.consoleUrl}/sign-in?error=no-role`)
    await page.getByText('gives you no role here').waitFor()
    await page.context().close()
  })

  it('lends nothing to another page, whatever it makes his browser send', async () => {
    const page = await openPage(browser)
    await signIn(page, gateway)
    // Of the same site, since the port does not count: the worst that a page elsewhere can be.
    for (const host of ['localhost', '127.0.0.1']) {
      const evil = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<iframe></iframe>')
      }).listen(0, '127.0.0.1')
      await once(evil, 'listening')
      await page.goto(`http://${host}:${(evil.address() as AddressInfo).port}/`)
      const outcomes = await page.evaluate<string[]>(attack(gateway.consoleUrl))
      expect(outcomes).toEqual(['failed', 'failed', 'failed', 'failed'])
      // The browser says it on its own way, which may be slower than that of what the page has found out.
      await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
      evil.close()
    }
    expect((await gateway.admin.projects.list({})).map(({ name }) => name)).toEqual(['default'])
    await page.context().close()
  })
})

/** A form that needs no leave, a call that does, a reading, a reading of who is signed in, and a frame. */
function attack(consoleUrl: string): string {
  return `(async () => {
    const post = { method: 'POST', credentials: 'include', body: '{"name":"planted"}' }
    const json = { 'content-type': 'application/json' }
    const ask = (path, options) => fetch('${consoleUrl}' + path, options).then((answer) => answer.type, () => 'failed')
    const frame = document.querySelector('iframe')
    const framed = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }))
    frame.src = '${consoleUrl}/'
    await framed
    return [
      await ask('/api/projects/add', { ...post, mode: 'no-cors' }),
      await ask('/api/projects/add', { ...post, headers: json }),
      await ask('/api/projects/list', { ...post, body: '{}', headers: json }),
      await ask('/auth/state', { credentials: 'include' }),
    ]
  })()`
}
