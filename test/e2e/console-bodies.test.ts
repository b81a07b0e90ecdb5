import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Browser,
  findBarriers,
  findOverflow,
  hasBrowser,
  openBrowser,
  openPage,
  signIn,
} from '../support/browser.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const said = `It's "said" <img src=x onerror="document.title=1"> \u202Eonce`

const model = 'us.anthropic.claude-sonnet-4-5-v1:0'

/** Blocks of text of which a line runs below the button that copies it. */
const hidesText = `((blocks) => [...document.querySelectorAll(blocks)].filter((block) => {
  const button = block.querySelector('button').getBoundingClientRect()
  const lines = document.createRange()
  lines.selectNodeContents(block.querySelector('pre'))
  const isBelow = ({ right, top, bottom }) => right > button.left && bottom > button.top && top < button.bottom
  return [...lines.getClientRects()].some(isBelow)
}).map((block) => block.textContent))`

/** Figures of a replay on more than one line, as wide as those of large requests: the demo's are small. */
const brokenFigures = `(() => {
  const cells = [...document.querySelectorAll('.replay-figures td')]
  const large = { 'First byte': '12.3 s', Total: '123.4 s', Cost: '$0.000004' }
  for (const cell of cells) {
    const sign = cell === cell.parentElement.lastElementChild ? '+' : ''
    cell.textContent = sign + (large[cell.parentElement.querySelector('th').textContent] ?? '89,000')
  }
  return cells.filter((cell) => {
    const text = document.createRange()
    text.selectNodeContents(cell)
    return text.getClientRects().length !== 1
  }).map((cell) => cell.textContent)
})()`

/** Words of names that go on in the next line. */
const brokenWords = `[...document.querySelectorAll('.replay-table bdi')].flatMap((name) => {
  const nodes = [...name.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
  return nodes.flatMap((node) => [...node.data.matchAll(/[^-]+-?/g)].filter(({ 0: word, index }) => {
    const text = document.createRange()
    text.setStart(node, index)
    text.setEnd(node, index + word.length)
    return text.getClientRects().length > 1
  }).map(([word]) => word))
})`

/** What was said, on the page of its request: Debian's Chromium, the packaged executable. */
describe.skipIf(!hasBrowser)('the bodies of a request (needs chromium)', () => {
  let browser: Browser
  let gateway: TestGateway
  beforeAll(async () => {
    ;[browser, gateway] = await Promise.all([openBrowser(), startGateway()])
    await gateway.admin.providers.add({ name: 'anthropic-europe', kind: 'demo' })
    await gateway.addRoute(model, ['anthropic-europe'])
  })
  afterAll(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  async function ask(key: string): Promise<string> {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: said }] })
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    return answer.headers.get('x-sp-request-id') ?? ''
  }

  it('are shown when they are asked for, copied as a call, and sent again beside one another', async () => {
    const { key } = await gateway.createKey('ci')
    const before = await ask(key)
    await gateway.admin.policies.add({ name: 'all', capture: 'full', attach: ['key:ci'] })
    const id = await ask(key)
    const page = await openPage(browser)
    await signIn(page, gateway)
    await page.goto(`${gateway.consoleUrl}/requests/${before}`)
    const bodies = page.getByRole('region', { name: 'Bodies' })
    await bodies.getByText('No policy captured the bodies.').waitFor()
    // One that is refused keeps what was written, and the focus.
    await page.getByRole('button', { name: 'Replay' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Provider').fill('anthropic-europe')
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await dialog.getByText('cannot be sent again').waitFor()
    expect(await dialog.getByLabel('Provider').inputValue()).toBe('anthropic-europe')
    await dialog.getByRole('button', { name: 'Replay' }).and(page.locator(':focus')).waitFor()

    await page.goto(`${gateway.consoleUrl}/requests/${id}`)
    await bodies.getByRole('button', { name: 'Show bodies' }).click()
    await bodies.getByText('Request: POST /v1/chat/completions').waitFor()
    expect(await bodies.textContent()).toContain('\\u202eonce')
    expect(await page.locator('main img').count()).toBe(0)
    expect(await gateway.admin.audit.list({ operation: 'requests.show', limit: 9 })).toHaveLength(1)
    expect(await findOverflow(page)).toBe(0)
    expect(await findBarriers(page)).toEqual([])

    await page.getByRole('button', { name: 'Copy as curl' }).click()
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
    await expect.poll(copied).toContain(`It'\\''s \\"said\\"`)

    await page.getByRole('button', { name: 'Replay' }).click()
    await dialog.getByLabel('Model').fill(model)
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByRole('columnheader', { name: 'Original' }).waitFor()
    await page.getByRole('region', { name: 'Replay' }).and(page.locator(':focus')).waitFor()
    await page.getByText('Response (identical)').waitFor()
    expect(await page.evaluate(`${hidesText}('.code')`)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.evaluate(brokenWords)).toEqual([])
    expect(await page.evaluate(brokenFigures)).toEqual([])
    const beside =
      '((dialog) => dialog.scrollWidth - dialog.clientWidth)(document.querySelector(".replay-table").parentElement)'
    expect(await page.evaluate(beside)).toBe(0)
    // Nothing is lost with what was sent: one Escape is enough.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(page.faults()).toEqual([])
    await page.context().close()
  })
})
