import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, hasBrowser, openBrowser, openPage, type Page, signIn } from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

describe.skipIf(!hasBrowser)('the console while the gateway is away (needs chromium)', () => {
  let browser: Browser
  let gateway: TestGateway
  let page: Page
  beforeAll(async () => {
    gateway = await startGateway()
    browser = await openBrowser()
    page = await openPage(browser)
    await gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
    await gateway.addRoute('demo', ['demo'])
    const { key } = await gateway.createKey('web')
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hello' }] }),
    })
    await answer.text()
    await signIn(page, gateway)
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  const open = (title: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: title, exact: true }).click()
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

  it('keeps what was loaded under a banner, and opens every page within the app', async () => {
    for (const title of ['Keys', 'Requests']) {
      await open(title)
      await heading(title)
    }
    const rows = page.getByRole('region', { name: 'Requests, newest first' }).locator('tbody tr')
    await expect.poll(() => rows.count()).toBe(1)
    // In a quiet moment the console loads the scripts of all pages.
    const scripts = "performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1)).join(' ')"
    for (const name of ['overview-page', 'providers-page', 'routing-page', 'playground-page', 'settings-page'])
      await expect.poll(() => page.evaluate(scripts)).toContain(`${name}-`)
    await page.evaluate('window.sameWindow = true')
    await gateway.kill('SIGKILL')
    await page.getByRole('alert').getByText('The gateway does not answer.').waitFor()
    expect(await rows.count()).toBe(1)
    await open('Keys')
    await heading('Keys')
    await page.getByRole('link', { name: 'web' }).first().waitFor()
    for (const title of ['Overview', 'Providers', 'Routing', 'Playground', 'Settings', 'Requests']) {
      await open(title)
      await heading(title)
    }
    await rows.first().waitFor()
    expect(await page.evaluate('window.sameWindow === true')).toBe(true)
    expect(await page.getByRole('alert').getByText('The gateway does not answer.').count()).toBe(1)
  })
})
