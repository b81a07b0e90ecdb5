import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  type Browser,
  findOverflow,
  hasBrowser,
  type Locator,
  openBrowser,
  openPage,
  type Page,
  signIn,
} from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'

/** The console as people meet it: Debian's Chromium, the packaged executable. */
describe.skipIf(!hasBrowser)('the console (needs chromium)', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  async function inNewPage(use: (page: Page) => Promise<void>) {
    const page = await openPage(browser)
    try {
      await use(page)
      expect(page.faults()).toEqual([])
    } finally {
      await page.context().close()
    }
  }

  /** For those that count rows. */
  async function inNewGateway(use: (gateway: TestGateway, page: Page) => Promise<void>) {
    const gateway = await startGateway()
    try {
      await inNewPage((page) => use(gateway, page))
    } finally {
      await gateway.stop()
    }
  }

  describe('with nothing yet', () => {
    let gateway: TestGateway
    beforeAll(async () => {
      gateway = await startGateway()
    })
    afterAll(() => gateway?.stop())

    it('ticks off what others do elsewhere', async () => {
      await inNewPage(async (page) => {
        await signIn(page, gateway)
        await page.getByText('1 of 6').waitFor()
        await gateway.admin.providers.add({ name: 'elsewhere', kind: 'demo' })
        await page.getByText('2 of 6').waitFor()
        await gateway.admin.providers.remove({ name: 'elsewhere' })
        await page.getByText('1 of 6').waitFor()
      })
    })

    it('leads from nothing to the first request, which is seen live', async () => {
      await inNewPage(async (page) => {
        await signIn(page, gateway)
        const steps = page.getByRole('region', { name: 'Get to your first request' })
        await steps.getByText('1 of 6').waitFor()
        await steps.getByRole('button', { name: 'OpenAI', exact: true }).click()
        await steps.getByLabel('Credential', { exact: true }).waitFor()
        await steps.getByRole('button', { name: 'Check and add OpenAI' }).click()
        await steps.getByText('Required').waitFor()
        await steps.getByRole('button', { name: 'Demo' }).click()
        await steps.getByText('2 of 6').waitFor()
        expect(await steps.getByLabel('Model').inputValue()).toBe('demo')
        await steps.getByRole('button', { name: 'Add route' }).click()
        await steps.getByRole('button', { name: 'Create key' }).click()
        // As `routes add` makes it, so that `routes disable demo` finds it.
        expect(await gateway.admin.routes.list({})).toMatchObject([{ model: 'demo', environment: 'production' }])
        const key = await steps
          .getByText(/^sp_live_/)
          .first()
          .textContent()
        await steps.getByText('4 of 6').waitFor()
        expect(await steps.getByText('curl -s').textContent()).toContain(key)

        await page.reload()
        await steps.getByRole('button', { name: 'Create another key' }).click()
        await steps.getByRole('button', { name: 'Create key' }).click()
        const other = steps.getByText(/^sp_live_/).first()
        await other.waitFor()
        expect(await steps.getByText('curl -s').textContent()).toContain(await other.textContent())
        await steps.getByRole('button', { name: 'Send it from here' }).click()
        await page.getByText('6 of 6').waitFor()
        const [first] = await gateway.admin.requests.list({})
        await page.getByRole('link', { name: 'Open request' }).click()
        await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor()
        await page.getByText(first?.id ?? 'none').waitFor()
        await page.getByText('Matched route demo').first().waitFor()
        await page.getByRole('link', { name: 'Open route' }).click()
        await page.waitForURL('**/routing/rte_*')
        await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor()
      })
    })

    it('loads address after address in one tab', async () => {
      await inNewPage(async (page) => {
        await signIn(page, gateway)
        for (const path of eightPaths) {
          await page.goto(gateway.consoleUrl + path)
          await page.locator('h1').waitFor()
          await page.locator('.live-receiving').waitFor()
        }
        for (const _ of eightPaths) {
          await page.goBack()
          await page.locator('.live-receiving').waitFor()
        }
      })
    })
  })

  it('shows requests as they end, and moves nothing under the pointer', async () => {
    await inNewGateway(async (gateway, page) => {
      const key = await makeRoute(gateway)
      await send(gateway, key, 'demo')
      await signIn(page, gateway)
      await page.goto(`${gateway.consoleUrl}/requests`)
      const rows = page.getByRole('region', { name: 'Requests, newest first' }).locator('tbody tr')
      await haveRows(rows, 1)
      await send(gateway, key, 'demo-large')
      await haveRows(rows, 2)
      expect(await rows.first().textContent()).toContain('demo-large')

      await rows.first().hover()
      await send(gateway, key, 'demo')
      const waiting = page.getByRole('button', { name: '1 new' })
      await waiting.waitFor()
      expect(await rows.count()).toBe(2)
      await waiting.click()
      await haveRows(rows, 3)

      await page.mouse.move(0, 0)
      await page.getByRole('button', { name: 'Pause' }).click()
      await page.mouse.move(0, 0)
      await send(gateway, key, 'demo')
      await waiting.waitFor()
      expect(await rows.count()).toBe(3)
    })
  })

  it('shows requests while they are under way, each in one row', async () => {
    await inNewGateway(async (gateway, page) => {
      const { mock, key } = await addSlow(gateway)
      await signIn(page, gateway)
      await page.goto(`${gateway.consoleUrl}/requests`)
      await page.getByText('No request').first().waitFor()
      mock.next({ hold: { before: laneCall('openai').firstContent + 1 } })
      const leaving = new AbortController()
      const asked = fetch(`${gateway.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'slow', stream: true, messages: [{ role: 'user', content: 'hello' }] }),
        signal: leaving.signal,
      }).catch(() => null)
      const row = page.locator('tbody tr')
      await row.getByText('streaming').waitFor()
      await row.hover()
      leaving.abort()
      await asked
      await row.getByText('499').waitFor()
      expect(await row.count()).toBe(1)
      expect(await page.getByRole('button', { name: /new$/ }).count()).toBe(0)
    })
  })

  it('shows the end of a request that ended between the reading of the list and the listening', async () => {
    await inNewGateway(async (gateway, page) => {
      const { mock, key } = await addSlow(gateway)
      await signIn(page, gateway)
      const release = Promise.withResolvers<void>()
      const { call } = mock.next({ hold: { before: 'headers', until: release.promise } })
      const asked = send(gateway, key, 'slow')
      await call
      // The list has been read by then, and says that it is under way.
      await page.route(/requests\/tail/, async (route) => {
        await page.locator('tbody tr').getByText('In progress').waitFor()
        release.resolve()
        await gateway.record((await asked).headers.get('x-sp-request-id') ?? '')
        await route.continue()
      })
      await page.goto(`${gateway.consoleUrl}/requests`)
      await page.locator('tbody tr').getByText('200').waitFor()
      expect(await page.locator('tbody tr').count()).toBe(1)
    })
  })

  it('keeps filters in the address, and opens what is searched for', async () => {
    await inNewGateway(async (gateway, page) => {
      const key = await makeRoute(gateway)
      const first = (await send(gateway, key, 'demo')).headers.get('x-sp-request-id') ?? ''
      await send(gateway, key, 'nothing-like-it', { 'x-sp-tag': 'team=search' })
      await signIn(page, gateway)
      await page.goto(`${gateway.consoleUrl}/requests?status=4xx`)
      const rows = page.locator('tbody tr')
      await haveRows(rows, 1)
      expect(await rows.first().textContent()).toContain('nothing-like-it')
      await page.getByRole('button', { name: 'Remove filter Status' }).click()
      await haveRows(rows, 2)
      expect(page.url()).not.toContain('status')
      await page.getByRole('button', { name: 'Add filter' }).click()
      await page.getByLabel('Field', { exact: true }).selectOption('tag')
      await page.getByLabel('Value', { exact: true }).fill('team=search')
      await page.getByRole('button', { name: 'Apply', exact: true }).click()
      await haveRows(rows, 1)
      await page.goto(`${gateway.consoleUrl}/requests?route=demo*`)
      await haveRows(rows, 1)
      await page.getByRole('button', { name: 'Remove filter Route' }).click()
      await haveRows(rows, 2)

      await page.mouse.move(0, 0)
      await page.keyboard.press('/')
      await page.keyboard.type(first)
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/requests/${first}`)
      await page.keyboard.press('g')
      await page.keyboard.press('q')
      await page.waitForURL('**/requests')
      await haveRows(rows, 2)
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/requests/${first}`)
      await page.keyboard.press('?')
      await page.getByRole('heading', { name: 'Keyboard' }).waitFor()
    })
  })

  it('shows whatever a client sends as text, and obeys none of it', async () => {
    await inNewGateway(async (gateway, page) => {
      const key = await makeRoute(gateway)
      const hostile = [
        '<img src=x onerror="document.title=1;alert(1)">',
        'javascript:alert(1)',
        'abc\u202Egnp.exe',
        '\u001b[31mred',
        `"'><script>alert(1)</script>${'x'.repeat(4000)}`,
      ]
      const ids: string[] = []
      for (const model of hostile) {
        const answer = await send(gateway, key, model, { 'user-agent': '<script>alert(2)</script>' })
        ids.push(answer.headers.get('x-sp-request-id') ?? '')
      }
      let dialogs = 0
      page.on('dialog', (dialog) => {
        dialogs++
        void dialog.dismiss()
      })
      await signIn(page, gateway)
      await page.goto(`${gateway.consoleUrl}/requests`)
      await haveRows(page.locator('tbody tr'), hostile.length)
      expect(await page.locator('tbody').textContent()).not.toMatch(/\p{Bidi_Control}|(?![\n\t])\p{Cc}/u)
      expect(await page.locator('tbody').textContent()).toContain('\\u202e')
      for (const id of ids) {
        await page.goto(`${gateway.consoleUrl}/requests/${id}`)
        await page.getByRole('heading', { name: 'What happened' }).waitFor()
        expect(await page.title()).toMatch(/· spgw$/)
        expect(await page.locator('img, main a[href^="javascript"]').count()).toBe(0)
        expect(await findOverflow(page)).toBe(0)
      }
      expect(dialogs).toBe(0)
    })
  })

  describe('in many windows', () => {
    let gateway: TestGateway
    let key: string
    beforeAll(async () => {
      gateway = await startGateway()
      key = await makeRoute(gateway)
    })
    afterAll(() => gateway?.stop())

    it('leaves connections for calls, however many tabs stand open', async () => {
      await inNewPage(async (page) => {
        await signIn(page, gateway)
        const tabs: Page[] = [page]
        for (const path of eightPaths.slice(1)) {
          for (const tab of tabs) await setSeen(tab, false)
          const tab = await page.context().newPage()
          tabs.push(tab)
          await tab.goto(gateway.consoleUrl + path)
          await tab.locator('.live-receiving').waitFor()
        }
        for (const tab of tabs) {
          for (const other of tabs) await setSeen(other, other === tab)
          await tab.getByRole('link', { name: 'Keys', exact: true }).first().click()
          await tab.getByRole('link', { name: 'ci', exact: true }).waitFor()
          await tab.locator('.live-receiving').waitFor()
        }
        // Hidden ones have heard nothing for a while, which is no fault of the gateway.
        for (const tab of tabs) expect(await tab.locator('.live-receiving').count()).toBe(1)

        // Whoever comes back sees what was done meanwhile.
        await gateway.createKey('meanwhile')
        await setSeen(page, true)
        await page.getByRole('link', { name: 'meanwhile', exact: true }).waitFor()
      })
    })

    it('leaves connections for calls, however many windows are seen at once', async () => {
      await inNewPage(async (page) => {
        await signIn(page, gateway)
        // The same list more often than a browser has connections, and more different ones than it could hold.
        const paths = [
          ...Array(5).fill('/requests'),
          ...['2xx', '4xx', '200', '404'].map((status) => `/requests?status=${status}`),
        ]
        const windows: Page[] = []
        for (const path of paths) {
          const window = await page.context().newPage()
          windows.push(window)
          await window.goto(gateway.consoleUrl + path)
          await window.locator('.live-receiving').waitFor()
        }
        await send(gateway, key, 'demo')
        for (const [place, window] of windows.entries())
          if (!/4/.test(paths[place])) await haveRows(window.locator('tbody tr'), 1)
        // Whoever held the connection for the others goes.
        await windows[0]?.close()
        await send(gateway, key, 'demo')
        for (const window of windows.slice(1, 5)) await haveRows(window.locator('tbody tr'), 2)
        await windows[4]?.getByRole('link', { name: 'Keys', exact: true }).first().click()
        await windows[4]?.getByRole('link', { name: 'ci', exact: true }).waitFor()
      })
    })
  })
})

const eightPaths = [
  '/requests',
  '/',
  '/providers',
  '/routing',
  '/keys',
  '/playground',
  '/settings/operators',
  '/requests?status=4xx',
]

/** As when another tab comes to the front: without a window Chromium holds every tab for visible. */
async function setSeen(page: Page, seen: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${!seen} })
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => ${seen} ? 'visible' : 'hidden' })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
}

/** A provider that waits when it is told to, and a key for its model `slow`. */
async function addSlow(gateway: TestGateway): Promise<{ mock: MockProvider; key: string }> {
  const mock = await startMockProvider('openai', 'sk-mock-credential')
  onTestFinished(() => mock.close())
  const { baseUrl } = mock
  await gateway.admin.providers.add({ name: 'slow', kind: 'openai', baseUrl, credential: 'sk-mock-credential' })
  await gateway.addRoute('slow', ['slow'])
  const { key } = await gateway.createKey('ci')
  return { mock, key }
}

async function haveRows(rows: Locator, count: number): Promise<void> {
  await expect.poll(() => rows.count()).toBe(count)
}

async function makeRoute(gateway: TestGateway): Promise<string> {
  await gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
  await gateway.addRoute('demo*', ['demo'])
  return (await gateway.createKey('ci')).key
}

function send(
  gateway: TestGateway,
  key: string,
  model: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  }).then(async (answer) => {
    await answer.arrayBuffer()
    return answer
  })
}
