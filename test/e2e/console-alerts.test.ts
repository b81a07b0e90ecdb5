import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { confirmDanger, openStage, type Stage } from '../support/console-stage.ts'
import { listen } from '../support/listen.ts'

describe.skipIf(!hasBrowser)('Alerts in the console (needs chromium)', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage?.stop())

  it('adds an alert, shows its secret once, tests it, retries what failed and removes it', async () => {
    const { page, visit, gateway } = stage
    const statuses = [500, 204]
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(statuses.shift() ?? 204).end()
    })
    const url = `${await listen(server)}/hook`
    onTestFinished(() => void server.close())
    await visit('/settings/alerts')
    await page.getByText('No alerts yet').waitFor()
    await page.getByRole('button', { name: 'Add alert' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name', { exact: true }).fill('ops')
    await form.getByLabel('URL', { exact: true }).fill(url)
    await form.getByRole('button', { name: 'Add alert' }).click()
    expect(await page.getByTestId('secret').textContent()).toMatch(/^whsec_/)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page.getByText('Not delivered').waitFor()
    const log = page.getByRole('region', { name: 'Deliveries' })
    await log.getByText('it answered 500').waitFor()
    await log.getByRole('button', { name: 'Retry now' }).click()
    await log
      .getByText(/^delivered$/i)
      .first()
      .waitFor()
    expect(await gateway.admin.alerts.deliveries({})).toMatchObject([{ state: 'delivered', tries: 2, status: 204 }])
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await form.getByLabel('New name').fill('pager')
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('pager').first().waitFor()
    await confirmDanger(page, 'Remove', 'pager')
    await page.getByText('No alerts yet').waitFor()
  })
})
