import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser, openPage } from '../support/browser.ts'
import { openStage, type Stage, visit } from '../support/console-stage.ts'

/** Names that begin where their cell ends, or behind it. */
const lostNames = `[...document.querySelectorAll('.cell-filter')].filter((name) => {
  const cell = name.closest('td').getBoundingClientRect()
  return name.offsetParent !== null && name.getBoundingClientRect().right > cell.right
}).map((name) => name.textContent)`

/** The list of requests: its quick filters, its histogram and its export; and a link that was used before. */
describe.skipIf(!hasBrowser)('requests in the console (needs chromium)', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
    const { gateway } = stage
    await gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
    await gateway.admin.providers.add({ name: 'standby', kind: 'demo' })
    await gateway.addRoute('demo', ['demo'])
    await gateway.addRoute('smart', ['demo:demo-error-429', 'standby:demo-large'], { retries: 0 })
    const { key } = await gateway.createKey('web')
    for (const model of ['demo', 'smart', 'missing']) {
      const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
      })
      await answer.text()
      await gateway.record(answer.headers.get('x-sp-request-id') ?? '')
    }
  })
  afterAll(() => stage?.stop())

  const rows = () => stage.page.getByRole('row').filter({ has: stage.page.locator('time') })

  it('narrows by quick filters, several at once, and by a click on a cell', async () => {
    const { page, gateway } = stage
    await visit(page, gateway, '/requests')
    await expect.poll(() => rows().count()).toBe(3)
    expect(await page.evaluate(lostNames)).toEqual([])
    await page.getByRole('button', { name: 'Errors', exact: true }).click()
    await page.waitForURL(/errors=true/)
    await expect.poll(() => rows().allTextContents()).toEqual([expect.stringContaining('404 model_not_found')])
    await page.getByRole('button', { name: 'Fell back' }).click()
    await page.waitForURL(/fellBack=true/)
    await page.getByText('No matching requests').waitFor()
    await page.getByRole('button', { name: 'Errors', exact: true }).click()
    await expect.poll(() => rows().allTextContents()).toEqual([expect.stringContaining('standby')])
    await page.getByRole('button', { name: 'Fell back' }).click()
    await expect.poll(() => rows().count()).toBe(3)
    await visit(page, gateway, '/requests?failedAt=demo')
    await expect.poll(() => rows().allTextContents()).toEqual([expect.stringContaining('smart')])
    await page.getByRole('button', { name: 'Remove filter Failed at' }).click()
    await expect.poll(() => rows().count()).toBe(3)
    expect(stage.faults()).toEqual([])
  })

  it('chooses a time range by drawing over the histogram', async () => {
    const { page, gateway } = stage
    await visit(page, gateway, '/requests?since=24h')
    const bars = page.getByRole('img', { name: '3 requests over time, 1 of them errors' })
    const box = await bars.boundingBox()
    if (box === null) throw new Error('there is no histogram')
    const middle = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.25, middle)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.5, middle, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/since=.*until=/)
    const { searchParams } = new URL(page.url())
    const [since = 0, until = 0] = ['since', 'until'].map((word) => Date.parse(searchParams.get(word) ?? ''))
    expect((until - since) / 3_600_000).toBeGreaterThan(5)
    expect((until - since) / 3_600_000).toBeLessThan(7.5)
    await page.getByText('No matching requests').waitFor()
    expect(stage.faults()).toEqual([])
  })

  it('exports what the list shows', async () => {
    const { page, gateway } = stage
    await visit(page, gateway, '/requests?errors=true')
    await page.getByRole('button', { name: 'Export' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV, for a spreadsheet' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^spgw-requests.*\.csv$/)
    const text = await readFile(await download.path(), 'utf8')
    expect(text.trim().split('\n')).toHaveLength(2)
    expect(text).toContain('model_not_found')
    expect(stage.faults()).toEqual([])
  })

  it('says of a link that was used what to do, once', async () => {
    const { gateway, browser } = stage
    const { url } = await gateway.admin.console.link({})
    const enter = async () => {
      const page = await openPage(browser)
      await page.goto(url)
      await page.getByRole('button', { name: 'Sign in' }).click()
      return page
    }
    const first = await enter()
    await first.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await first.context().close()
    const second = await enter()
    await second.getByRole('alert').waitFor()
    const text = await second.locator('main').textContent()
    expect(text).toMatch(/used|expired/)
    expect(text?.match(/spgw console link/g)).toHaveLength(1)
    expect(await second.getByRole('button').count()).toBe(0)
    await second.context().close()
  })

  it('shows the codes of errors whole, in two lines where they are long', async () => {
    const { page, gateway } = stage
    const nowhere = { baseUrl: 'http://127.0.0.1:9/v1', credential: 'sk-none-0000000000', skipCheck: true }
    await gateway.admin.providers.add({ name: 'gone', kind: 'openai', ...nowhere })
    await gateway.addRoute('gone', ['gone'], { retries: 1 })
    const { key } = await gateway.createKey('gone')
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gone', messages: [{ role: 'user', content: 'hello' }] }),
    })
    await answer.text()
    await gateway.record(answer.headers.get('x-sp-request-id') ?? '')
    await visit(page, gateway, '/requests?key=gone')
    await page.getByText('502 provider_unreachable').waitFor()
    expect(await page.locator('.request-state').textContent()).toContain('↻1')
    // The longest that there is.
    await page.evaluate(
      `document.querySelector('.request-state .wide-only').textContent = ' provider_\\u200bcredential_\\u200brejected'`,
    )
    const cut = `[...document.querySelectorAll('.request-state, .request-state .state-word')]
      .filter((part) => part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight).length`
    expect(await page.evaluate(cut)).toBe(0)
  })
})
