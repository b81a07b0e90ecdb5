import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser } from '../support/browser.ts'
import { openStage, type Stage } from '../support/console-stage.ts'
import { askChat } from '../support/gateway.ts'

describe.skipIf(!hasBrowser)('forms and filters of the console (needs chromium)', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
    await stage.gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
    for (let number = 10; number < 22; number++) {
      await stage.gateway.createKey(`key-${number}`)
      await stage.gateway.addRoute(`model-${number}`, ['demo'])
    }
  })
  afterAll(() => stage?.stop())

  it('filters keys and routes, and keeps the filter for whoever comes back', async () => {
    const { page, visit } = stage
    for (const [path, noun, first] of [
      ['/keys', 'keys', 'key-17'],
      ['/routing', 'routes', 'model-17'],
    ] as const) {
      await visit(path)
      await page.getByLabel(`Filter ${noun}`).fill('-17')
      await page.getByText('1 of 12 shown').waitFor()
      expect(await page.locator('tbody tr').count()).toBe(1)
      expect(await findBarriers(page)).toEqual([])
      await page.getByRole('link', { name: first }).click()
      await page.getByRole('heading', { level: 1, name: first }).waitFor()
      await page.goBack()
      expect(await page.getByLabel(`Filter ${noun}`).inputValue()).toBe('-17')
      await page.getByLabel(`Filter ${noun}`).fill('nothing')
      await page.getByText(`None of 12 ${noun} matches “nothing”.`).waitFor()
      await page.getByRole('button', { name: 'Clear filter' }).click()
      await expect.poll(() => page.locator('tbody tr').count()).toBe(12)
    }
  })

  it('reads the last hour of all routes with one call, and one more where a model has several', async () => {
    const { page, visit, gateway } = stage
    const { key, id } = await gateway.createKey('hour')
    const answer = await askChat(gateway, key, { model: 'model-12' })
    expect(answer.status).toBe(200)
    await expect.poll(async () => (await gateway.admin.requests.stats({ route: 'model-12' }))[0]?.requests).toBe(1)
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    const calls = () => asked.filter((url) => url.includes('requests/stats')).length
    const figure = () => page.getByRole('row', { name: /^model-12 / }).getByText('1', { exact: true })
    await visit('/routing')
    await figure().first().waitFor()
    expect(await page.getByText('…', { exact: true }).count()).toBe(0)
    expect(calls()).toBe(1)
    await gateway.admin.environments.add({ name: 'spare' })
    await gateway.addRoute('model-12', ['demo'], { environment: 'spare' })
    await page.getByText('default/spare').first().waitFor({ state: 'attached' })
    asked.length = 0
    await visit('/routing')
    await figure().first().waitFor()
    expect([await figure().count(), calls()]).toEqual([1, 2])
    await gateway.admin.routes.remove({ model: 'model-12', environment: 'spare' })
    await gateway.admin.keys.remove({ key: id })
  })

  it('keeps no pasted key in the address', async () => {
    const { page, visit } = stage
    await visit('/keys')
    await page.getByLabel('Filter keys').fill('sp_live_0123456789abcdef')
    await page.getByText('None of 12 keys').waitFor()
    expect(page.url()).not.toContain('sp_live')
  })

  it('takes the filter of a list away where its name is pressed in the rail, and has it again on the way back', async () => {
    const { page, visit } = stage
    await visit('/keys')
    const field = page.getByLabel('Filter keys')
    await field.pressSequentially('key-1')
    await page.waitForURL('**/keys?find=key-1')
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Keys' }).click()
    await page.getByText('12 shown', { exact: true }).waitFor()
    expect(await field.inputValue()).toBe('')
    await page.goBack()
    await expect.poll(() => field.inputValue()).toBe('key-1')
  })

  it('names its own fields and pages where the gateway names flags and commands', async () => {
    const { page, visit } = stage
    await visit('/settings/operations/providers.add')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('leaky')
    await page.getByRole('textbox', { name: 'Kind' }).fill('openai-compatible')
    await page.getByRole('textbox', { name: 'Base URL' }).fill('https://llm.example/v1?key=abc')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText('give the credential with “Credential”').waitFor()
    await visit('/settings/operations/keys.create')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('key-10')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText('or give it a new secret under Keys').waitFor()
  })

  it('says what saving would replace that somebody else changed meanwhile', async () => {
    const { page, visit, gateway } = stage
    await gateway.admin.policies.add({ name: 'shared', rpm: 10 })
    await visit('/settings/policies')
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Requests a minute').fill('20')
    await gateway.admin.policies.edit({ name: 'shared', rpm: 30, tpm: 1000 })
    await dialog.getByText('Somebody else changed Requests a minute (now 30)').waitFor()
    await dialog.getByRole('button', { name: /^Save/ }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await gateway.admin.policies.show({ name: 'shared' })).toMatchObject({ rpm: 20, tpm: 1000 })
    await gateway.admin.policies.remove({ name: 'shared' })
  })

  it('keeps what was typed when the session ends in the middle of a form', async () => {
    const { page, visit, gateway } = stage
    await visit('/settings/policies')
    await page.getByRole('button', { name: 'Add policy' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').first().fill('cheap')
    const [{ name } = { name: '' }] = await gateway.admin.operators.list({})
    await gateway.admin.sessions.revoke({ operator: name })
    await page.getByText('Your session has ended.').waitFor()
    await dialog.getByRole('button', { name: /^Add/ }).last().click()
    await dialog.getByRole('link', { name: 'Sign in in another tab' }).waitFor()
    expect(await dialog.getByLabel('Name').first().inputValue()).toBe('cheap')
    const other = await page.context().newPage()
    const { url } = await gateway.admin.console.link({})
    await other.goto(url)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await other.close()
    await dialog.getByRole('button', { name: /^Add/ }).last().click()
    await dialog.waitFor({ state: 'detached' })
    expect(await gateway.admin.policies.list({})).toMatchObject([{ name: 'cheap' }])
  })

  it('says no more that the session has ended when somebody left the form and signed in again', async () => {
    const { page, visit, gateway } = stage
    const password = 'correct horse battery'
    await gateway.admin.operators.add({ name: 'dora', role: 'owner', password })
    const signIn = async () => {
      await page.getByLabel('Name').fill('dora')
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    }
    await page.context().clearCookies()
    await visit('/sign-in')
    await signIn()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await visit('/settings/policies')
    await page.getByRole('button', { name: 'Add policy' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').first().fill('left')
    await gateway.admin.sessions.revoke({ operator: 'dora' })
    await page.getByText('Your session has ended.').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('link', { name: 'Keys', exact: true }).click()
    await signIn()
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
    expect(await page.getByText('Your session has ended.').count()).toBe(0)
  })
})
