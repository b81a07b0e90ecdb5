import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser } from '../support/browser.ts'
import { openStage, type Stage } from '../support/console-stage.ts'

describe.skipIf(!hasBrowser)('pages of the console by name and by search (needs chromium)', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
    const { admin } = stage.gateway
    await admin.providers.add({ name: 'demo', kind: 'demo' })
    await admin.providers.add({ name: 'standby', kind: 'demo' })
    await stage.gateway.addRoute('smart*', ['demo', 'standby:demo'])
    await admin.environments.add({ name: 'staging', project: 'default' })
    await stage.gateway.createKey('web')
    await stage.gateway.createKey('twice')
    await stage.gateway.createKey('twice', { environment: 'staging' })
  })
  afterAll(() => stage?.stop())

  const heading = (name: string) => stage.page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

  it('opens every resource by its name as by its id', async () => {
    const { page, visit, gateway } = stage
    await visit('/keys/web')
    await heading('web')
    await page.getByRole('button', { name: 'Rotate' }).waitFor()
    await visit('/routing/smart*')
    await page.getByRole('button', { name: 'Explain' }).waitFor()
    const [demo] = await gateway.admin.providers.list({})
    await visit(`/providers/${demo?.id}`)
    await heading('demo')
    await visit('/keys/twice')
    await page.getByText('2 keys are named twice. Choose one:').waitFor()
    await page.getByRole('link', { name: 'default/staging' }).click()
    await page.getByRole('button', { name: 'Rotate' }).waitFor()
    await visit('/keys/twice?project=default&environment=staging')
    await page.getByRole('button', { name: 'Rotate' }).waitFor()
    await visit('/keys/no-such-key')
    await page.getByText('No key is named no-such-key').waitFor()
  })

  it('keeps rail and header on an address without a page, and offers the search', async () => {
    const { page, visit } = stage
    await visit('/no/such/web')
    await heading('Page not found')
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.getByRole('button', { name: 'Search for “web”' }).click()
    const search = page.getByRole('dialog', { name: 'Search' })
    expect(await search.getByRole('combobox').inputValue()).toBe('web')
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Enter')
    await heading('web')
  })

  it('finds pages and actions with Ctrl-K, also while one types, and opens the dialog of an action', async () => {
    const { page, visit } = stage
    await visit('/keys')
    await page.keyboard.press('Control+k')
    const input = page.getByRole('dialog', { name: 'Search' }).getByRole('combobox')
    await input.fill('rotate web')
    await page.getByRole('option').first().getByText('Rotate web').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Rotate web' }).waitFor()
    await page.keyboard.press('Escape')
    await page.waitForURL((url) => !url.searchParams.has('do'))
    await page.keyboard.press('/')
    await input.fill('create key')
    await page.keyboard.press('Enter')
    await heading('Create key')
  })

  it('says what is in the way of a removal, and asks for no name', async () => {
    const { page, visit } = stage
    await visit('/providers/demo')
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('cannot be removed while 1 route uses it').waitFor()
    expect(await dialog.getByRole('textbox').count()).toBe(0)
    await dialog.getByRole('link', { name: 'smart*' }).click()
    await page.getByRole('dialog', { name: 'Edit route smart*' }).waitFor()
    await visit('/settings/projects')
    await page.getByRole('button', { name: 'Remove', exact: true }).first().click()
    await dialog.getByText(/cannot be removed while it has keys or routes/).waitFor()
    expect(await dialog.getByRole('textbox').count()).toBe(0)
  })

  it('says so of a provider that is a shadow, and of one that is a default', async () => {
    const { page, visit, gateway } = stage
    await gateway.admin.providers.add({ name: 'copies', kind: 'demo' })
    await gateway.admin.routes.edit({ model: 'smart*', shadow: 'copies:demo' })
    await gateway.admin.environments.edit({ name: 'staging', defaultProviders: { openai: 'copies' } })
    await visit('/providers/copies')
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('while 1 route uses it, and it is a default provider of 1 environment').waitFor()
    await dialog.getByRole('link', { name: 'Environment staging' }).waitFor()
    expect(await dialog.getByRole('textbox').count()).toBe(0)
  })

  it('says that the last owner cannot go, and on the page of any operation what it would be refused for', async () => {
    const { page, visit } = stage
    await visit('/settings/operators')
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('is the last owner, and a gateway must have one').waitFor()
    expect(await dialog.getByRole('textbox').count()).toBe(0)
    await visit('/settings/operations/providers.remove')
    await page.getByLabel('Name').fill('demo')
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('alert').getByText('cannot be removed while it is used by route smart*').waitFor()
    expect(await dialog.count()).toBe(0)
  })

  it('shows the answer of any operation in words, its lists as tables', async () => {
    const { page, visit, gateway } = stage
    await gateway.admin.policies.add({ name: 'team', rpm: 600, attach: ['project:default'] })
    await visit('/settings/operations/policies.usage')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('cell', { name: 'requests a minute' }).waitFor()
    await visit('/settings/operations/routes.show')
    await page.getByLabel('Model').fill('smart*')
    await page.getByRole('button', { name: 'Run' }).click()
    const targets = page.getByRole('region', { name: 'Targets' })
    await targets.getByRole('cell', { name: 'standby' }).waitFor()
    expect(await page.getByRole('region', { name: 'Result' }).textContent()).not.toMatch(/\w=\w/)
  })

  it('goes on with the first wrong field of any operation that was refused', async () => {
    const { page, visit } = stage
    await visit('/settings/operations/requests.tail')
    await page.getByLabel('Since').fill('5 parsecs')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByLabel('Since').and(page.locator('[aria-invalid="true"]:focus')).waitFor()
  })

  it('says of what a file manages that the next apply restores it, and then removes it', async () => {
    const { page, visit, gateway } = stage
    const text = 'owner: team-a\nroutes:\n  - model: managed\n    targets: [standby]\n'
    await gateway.admin.apply({ files: { 'routes.yaml': text }, skipCheck: true })
    await visit('/routing/managed')
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Managed by the configuration files of owner team-a').waitFor()
    await dialog.getByRole('textbox').fill('managed')
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('status').getByText('Route "managed" removed').waitFor()
  })

  it('says what a deactivation does, asks, and takes it back', async () => {
    const { page, visit, gateway } = stage
    await visit('/providers/demo')
    await page.getByRole('button', { name: 'Deactivate' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('loses its first target; requests go to standby').waitFor()
    expect((await gateway.admin.providers.show({ name: 'demo' })).active).toBe(true)
    await dialog.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('status').getByText('Provider "demo" deactivated').waitFor()
    expect((await gateway.admin.providers.show({ name: 'demo' })).active).toBe(false)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('status').getByText('Provider "demo" is active again').waitFor()
    expect((await gateway.admin.providers.show({ name: 'demo' })).active).toBe(true)
    expect(stage.faults()).toEqual([])
  })
})
