import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import {
  confirmDanger,
  expectInert,
  expectNarrow,
  hostileMarkup,
  hostileText,
  longText,
  openStage,
  type Stage,
} from '../support/console-stage.ts'

/** Cells of a table with more than one line, where there is room for one. */
const wrappedCells = `[...document.querySelectorAll('tbody td .cell')].filter((cell) => {
  const text = document.createRange()
  text.selectNodeContents(cell)
  return text.getBoundingClientRect().height > 30
}).map((cell) => cell.textContent)`

describe.skipIf(!hasBrowser)('Routing and the playground in the console (needs chromium)', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage?.stop())

  const onlyRoute = async () => (await stage.gateway.admin.routes.list({ all: true }))[0]

  it('has a place that says what belongs there', async () => {
    const { page, visit } = stage
    await visit('/routing')
    await page.getByText('No routes yet').waitFor()
  })

  describe('with providers', () => {
    beforeAll(async () => {
      const { admin } = stage.gateway
      await admin.providers.add({ name: 'demo', kind: 'demo' })
      const broken = { kind: 'openai' as const, baseUrl: 'http://127.0.0.1:9/v1', credential: 'sk-none-0000000000' }
      await admin.providers.add({ name: 'broken', ...broken, skipCheck: true })
    })

    it('makes a route whose targets are put in order by the keyboard', async () => {
      const { page, visit } = stage
      await visit('/routing')
      await page.getByRole('button', { name: 'Add route' }).click()
      await page.getByLabel('Model', { exact: true }).fill('demo')
      await page.getByLabel('Target 1, provider').selectOption('demo')
      await page.getByRole('button', { name: 'Add target' }).click()
      await page.getByLabel('Target 2, provider').selectOption('broken')
      await page.getByLabel('Target 2, upstream model').fill('gpt-4o-mini')
      await page.getByLabel('Target 2, provider').focus()
      await page.keyboard.press('Alt+ArrowUp')
      expect(await page.getByLabel('Target 1, provider').inputValue()).toBe('broken')
      expect(await page.evaluate<string>("document.activeElement.getAttribute('aria-label')")).toBe(
        'Target 1, provider',
      )
      await page.getByRole('button', { name: 'Move target 1 down' }).click()
      await page.getByRole('button', { name: 'Add route' }).click()
      await page.getByRole('heading', { level: 1, name: 'demo' }).waitFor()
      expect((await onlyRoute())?.targets).toMatchObject([
        { provider: 'demo', upstream_model: null },
        { provider: 'broken', upstream_model: 'gpt-4o-mini' },
      ])
    })

    it('draws the route, tests it with a real request, and explains it', async () => {
      const { page, visit } = stage
      await visit(`/routing/${(await onlyRoute())?.id}`)
      const picture = page.getByRole('figure', { name: 'How requests for demo are routed' })
      await picture.getByRole('listitem').first().getByText('ready').waitFor()
      await picture.getByText('No attempts in the last hour').first().waitFor()

      await page.getByRole('button', { name: 'Test', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Test route' })
      await dialog.getByRole('button', { name: 'Send test request' }).click()
      await dialog.getByText('The route works.').waitFor()
      const record = dialog.getByRole('link', { name: /^req_/ })
      expect(await record.getAttribute('href')).toMatch(/^\/requests\/req_/)
      await dialog.getByRole('button', { name: 'Close' }).click()

      await stage.gateway.createKey('ci')
      await visit(`/routing/${(await onlyRoute())?.id}`)
      await picture.getByText('100% of attempts in the last hour').waitFor()
      await page.getByRole('button', { name: 'Explain' }).click()
      const drawer = page.getByRole('dialog', { name: /^Explain/ })
      await drawer.getByLabel('Key').selectOption({ index: 1 })
      await drawer.getByLabel('Body').fill('{"model":"nothing-like-it","messages":[]}')
      await drawer.getByText('model_not_found').waitFor()
      await drawer.getByLabel('Body').fill('{"model":"demo","contents":[]}')
      await drawer.getByText('Try demo with demo.').waitFor()
      await drawer.getByText('The request would be sent.').waitFor()
    })

    it('shows for two formats what is kept and what is lost', async () => {
      const { page, visit } = stage
      await visit(`/routing/${(await onlyRoute())?.id}`)
      await page.getByRole('link', { name: /^losses of requests to broken/ }).click()
      await page.getByRole('heading', { level: 1, name: 'Translation' }).waitFor()
      expect(await page.getByLabel('Provider').inputValue()).toBe('chat')
      await page.getByRole('row', { name: /top_k/ }).getByText('lost').waitFor()
      await page.getByLabel('Client').selectOption('chat')
      await page.getByText('Nothing is translated').waitFor()
      await page.getByLabel('Provider').selectOption('messages')
      await page
        .getByRole('row', { name: /logprobs/ })
        .first()
        .getByText('refused')
        .waitFor()
      await page.getByText(/^Kept \(/).click()
      await page.getByText('messages.content.image_url', { exact: true }).waitFor()

      await visit('/routing/translation?from=generate&to=chat')
      await page.getByRole('row', { name: /computerUse/ }).waitFor()
      expect(await page.evaluate(wrappedCells)).toEqual([])
    })

    it('is edited, disabled, enabled and removed', async () => {
      const { page, visit } = stage
      await visit(`/routing/${(await onlyRoute())?.id}`)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      const form = page.getByRole('dialog')
      await form.getByRole('button', { name: 'Remove target 2' }).click()
      await form.getByText('More settings').click()
      await form.getByLabel('Retries').fill('3')
      await form.getByLabel('Sticky').check()
      await form.getByLabel('Strict').check()
      await form.getByLabel('Keep translated Responses for').fill('7d')
      await form.getByLabel('Hedge after').fill('p95')
      await form.getByLabel('Shadow').fill('broken:gpt-4o-mini')
      await form.getByRole('button', { name: 'Save' }).click()
      await page.getByText('3 per target').waitFor()
      const drawing = page.getByRole('figure', { name: 'How requests for demo are routed' })
      await drawing.getByText('Hedged after p95, at most 5%').waitFor()
      await drawing.getByText('Copied to broken:gpt-4o-mini').waitFor()
      await drawing.getByText('Strict: a target that would lose something in translation is skipped').waitFor()
      await drawing.getByText('Keeps translated Responses for 7 d').waitFor()
      await page.getByText('Kept for 7 d').waitFor()
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await form.getByText('More settings').click()
      await form.getByLabel('Keep translated Responses for').fill('')
      await form.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Not kept').waitFor()
      await stage.gateway.admin.policies.add({ name: 'team', rpm: 60, budgetUsdMonth: 200, attach: ['key:ci'] })
      await page.getByRole('button', { name: 'Explain' }).click()
      const drawer = page.getByRole('dialog', { name: /^Explain/ })
      await drawer.getByLabel('Key').selectOption({ index: 1 })
      await drawer.getByText('60 of 60 requests a minute left.').waitFor()
      await drawer.getByText('$200.00 of $200.00 a month left.').waitFor()
      await drawer.getByText('After p95 of silence, ask a second target.').waitFor()
      await drawer.getByRole('button', { name: 'Close' }).click()
      expect((await onlyRoute())?.targets).toHaveLength(1)

      await page.getByRole('button', { name: 'Disable' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
      await page.getByRole('button', { name: 'Enable' }).click()
      await page.getByRole('button', { name: 'Disable' }).waitFor()
      expect((await onlyRoute())?.enabled).toBe(true)

      await confirmDanger(page, 'Remove', 'demo')
      await page.getByText('No routes yet').waitFor()
      expect(await onlyRoute()).toBeUndefined()
    })

    it('streams an answer in the playground, as a key of choice, and shows its record', async () => {
      const { page, visit, gateway } = stage
      await visit('/playground')
      await page.getByText('No route in default/production serves the OpenAI lane yet.').waitFor()
      await gateway.addRoute('demo', ['demo'])
      await visit('/playground')
      expect(await page.getByLabel('Model', { exact: true }).inputValue()).toBe('demo')
      await page.getByLabel('Send as key').selectOption({ index: 1 })
      await page.getByText('Raw request').click()
      expect(JSON.parse(await page.getByLabel('Body', { exact: true }).inputValue())).toMatchObject({
        model: 'demo',
        stream: true,
      })
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      const answer = page.getByRole('region', { name: 'Response' })
      await answer.getByText('first text').waitFor()
      const record = page.getByRole('region', { name: 'Record' })
      await record.getByRole('link', { name: 'Open request' }).waitFor()
      const id = (await record.getByText(/^req_/).textContent()) ?? ''
      expect(await gateway.record(id)).toMatchObject({
        model: 'demo',
        status: 200,
        streamed: true,
        key: { name: 'ci' },
      })
      await answer.getByRole('tab', { name: 'Raw response' }).click()
      await answer.getByText('data: [DONE]').waitFor()
      const [line] = await gateway.admin.audit.list({ operation: 'requests.send', limit: 1 })
      expect(line).toMatchObject({ actor: 'owner', surface: 'console', after: { model: 'demo', key: 'ci' } })
    })

    it('says on a narrow page whose each of two routes of one model is', async () => {
      const { page, visit, gateway } = stage
      await gateway.admin.projects.add({ name: 'search' })
      await gateway.admin.environments.add({ name: 'production', project: 'search' })
      for (const project of ['default', 'search']) await gateway.addRoute('twice', ['demo'], { project })
      await page.setViewportSize({ width: 390, height: 844 })
      await visit('/routing')
      const rows = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'twice' }) })
      await rows.getByText('search/production').filter({ visible: true }).waitFor()
      await rows.getByText('default/production').filter({ visible: true }).waitFor()
      const alone = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'demo', exact: true }) })
      expect(await alone.locator('.second-line').count()).toBe(0)
      await page.setViewportSize({ width: 1440, height: 900 })
    })

    it('shows whatever stands in a route or an answer as text', async () => {
      const { page, visit, gateway } = stage
      await gateway.addRoute(hostileMarkup, ['demo:demo'])
      const odd = (await gateway.admin.routes.list({ all: true })).find(({ model }) => model.startsWith('<img'))
      for (const path of ['/routing', `/routing/${odd?.id}`]) {
        await visit(path)
        await page.getByText('onerror').first().waitFor()
        await expectInert(page)
      }
      await visit('/playground')
      await page.getByLabel('User').fill(`${hostileText} ${longText}`)
      await page.getByRole('button', { name: 'Send', exact: true }).click()
      await page.getByRole('region', { name: 'Record' }).waitFor()
      await expectInert(page)
      await visit('/routing?add=demo')
      await page.getByLabel('Model', { exact: true }).fill(longText)
      await page.getByRole('button', { name: 'Add route' }).click()
      await page.locator('.notice-bad, .field-error:not(:empty), .route-drawing').first().waitFor()
      await expectInert(page)
      await expectNarrow(stage, ['/routing', `/routing/${odd?.id}`, '/playground'])
      expect(stage.faults()).toEqual([])
    })
  })
})
