import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findHiddenHeads, hasBrowser, openPage } from '../support/browser.ts'
import {
  confirmDanger,
  expectInert,
  expectNarrow,
  hostileText,
  openStage,
  type Stage,
} from '../support/console-stage.ts'

describe.skipIf(!hasBrowser)('Settings in the console (needs chromium)', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage?.stop())

  it('adds, renames and removes projects and environments', async () => {
    const { page, visit, gateway } = stage
    await visit('/settings/projects')
    await page.getByRole('button', { name: 'Add project' }).click()
    // Whoever opens it can write at once.
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor()
    await page.keyboard.type('search')
    await page.keyboard.press('Enter')
    const project = page.getByRole('region', { name: 'search', exact: true })
    await project.getByRole('button', { name: 'Add environment' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('staging')
    await page.getByRole('dialog').getByRole('button', { name: 'Add environment' }).click()
    await project.getByText('staging').waitFor()
    await project.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('dialog').getByLabel('New name').fill('discovery')
    await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
    const renamed = page.getByRole('region', { name: 'discovery', exact: true })
    await renamed.getByRole('button', { name: 'Remove', exact: true }).first().click()
    await page.getByRole('dialog').getByRole('textbox').fill('discovery')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await renamed.waitFor({ state: 'detached' })
    expect((await gateway.admin.projects.list({})).map(({ name }) => name)).toEqual(['default'])
  })

  it('opens a price by keyboard, and goes back to its row', async () => {
    const { page, visit, gateway } = stage
    for (const model of ['house-a', 'house-b']) await gateway.admin.prices.set({ model, input: 0.0005, output: 10 })
    await visit('/settings/prices')
    await page.getByRole('row', { name: 'house-a' }).focus()
    await page.keyboard.press('j')
    const row = page.getByRole('row', { name: 'house-b' }).and(page.locator(':focus'))
    await row.waitFor()
    expect(await row.textContent()).toContain('$0.0005')
    await page.keyboard.press('Enter')
    const drawer = page.getByRole('dialog', { name: 'house-b' })
    await drawer.getByRole('button', { name: 'Close' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await row.waitFor()
    expect(await drawer.count()).toBe(0)
  })

  it('adds, edits and removes a policy', async () => {
    const { page, visit, gateway } = stage
    await visit('/settings/policies')
    await page.getByRole('button', { name: 'Add policy' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Name', { exact: true }).fill('small')
    await form.getByLabel('Allowed models').fill('gpt-4o-mini*')
    await form.getByLabel('Requests a minute').fill('60')
    await form.getByLabel('Applies to').fill('project:default')
    await form.getByRole('button', { name: 'Add rule' }).click()
    await form.getByLabel('Action').selectOption('Flag')
    await form.getByText('More settings').click()
    await form.getByLabel('Max body').fill('1MB')
    await form.getByLabel('Body capture').selectOption('redacted')
    // What was written is not lost by one press.
    await page.keyboard.press('Escape')
    await form.getByText('Press Escape or Close').waitFor()
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toBe('small')
    await form.getByRole('button', { name: 'Add policy' }).click()
    await page.getByText('0 of 60').waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await form.getByLabel('Requests a minute').fill('')
    await form.getByText('More settings').click()
    await form.getByLabel('Denied models').fill('o1')
    await form.getByLabel('Body capture').selectOption('Default')
    await form.getByRole('button', { name: 'Save' }).click()
    await expect
      .poll(async () => (await gateway.admin.policies.list({}))[0])
      .toMatchObject({
        allow_models: ['gpt-4o-mini*'],
        deny_models: ['o1'],
        max_body_bytes: 1_000_000,
        content_rules: [{ name: 'email-addresses', detector: 'email-addresses', action: 'flag' }],
        rpm: null,
        capture: null,
      })
    await page.getByRole('button', { name: 'Try rules' }).click()
    const rules = page.getByRole('dialog', { name: 'Try content rules of small' })
    await rules.getByLabel('Text', { exact: true }).fill('Mail jane@example.com about <b>it</b>')
    await rules.getByLabel('Rules to try').fill('rules: [{ name: people, detector: personal, action: redact }]')
    await rules.getByRole('button', { name: 'Try', exact: true }).click()
    await rules.getByText('Mail [EMAIL_1] about <b>it</b>').waitFor()
    expect(await rules.locator('mark').allTextContents()).toEqual(['jane@example.com'])
    await rules.getByRole('button', { name: 'Close' }).click()
    await gateway.admin.policies.edit({ name: 'small', budgetUsdMonth: 200 })
    await page.getByRole('button', { name: 'Grant more' }).click()
    await form.getByLabel('More, in USD').fill('50')
    await form.getByLabel('Until').fill('7d')
    await form.getByRole('button', { name: 'Grant', exact: true }).click()
    await page.getByText('$0.00 of $250.00').waitFor()
    await page.getByRole('button', { name: 'End grant' }).click()
    await page.getByText('$0.00 of $200.00').waitFor()
    await visit('/settings/about')
    await page.getByText('project default: $0.00 of $200.00 a month (policy small)').waitFor()
    expect(await page.locator('.record-entry').filter({ hasText: 'Out of service' }).locator('dd').textContent()).toBe(
      'No',
    )
    await visit('/settings/policies?find=large')
    await page.getByText('None of 1 policies matches “large”.').waitFor()
    await page.getByRole('button', { name: 'Clear filter' }).click()
    await confirmDanger(page, 'Remove', 'small')
    await page.getByText('No policies yet').waitFor()
  })

  it('lets an operator in by a link that is shown once, and gives roles by project', async () => {
    const { page, visit, gateway } = stage
    await visit('/settings/operators')
    await page.getByRole('button', { name: 'Add operator' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('ben')
    await page.getByRole('dialog').getByLabel('Role').selectOption('viewer')
    await page.getByRole('dialog').getByRole('button', { name: 'Add operator' }).click()
    const link = (await page.getByTestId('secret').textContent()) ?? ''
    const other = await openPage(stage.browser)
    await other.goto(link)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await other.goto(`${gateway.consoleUrl}/providers`)
    await other.getByText('No providers yet').waitFor()
    expect(await other.getByRole('button', { name: 'Add provider' }).count()).toBe(0)
    await other.context().close()

    await page.getByRole('button', { name: 'I have copied it' }).click()
    expect(await page.content()).not.toContain(link)
    await page.setViewportSize({ width: 1280, height: 900 })
    expect(await findHiddenHeads(page)).toEqual([])
    await page.setViewportSize({ width: 1440, height: 900 })
    const row = page.getByRole('row', { name: /^ben/ })
    await row.getByRole('button', { name: 'Roles' }).click()
    const roles = page.getByRole('dialog', { name: 'Roles of ben' })
    await roles.getByLabel('Role', { exact: true }).selectOption('admin')
    await roles.getByLabel('Scope').selectOption('default')
    await roles.getByRole('button', { name: 'Grant role' }).click()
    await roles.getByText('for project default').waitFor()
    await roles.getByRole('button', { name: 'Close' }).click()
    await row.getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('ben')
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
    await row.getByText('disabled').waitFor()
    expect((await gateway.admin.operators.show({ name: 'ben' })).state).toBe('disabled')
  })

  it('makes an API token that works until it is revoked', async () => {
    const { page, visit, gateway } = stage
    await visit('/settings/tokens')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('deploy')
    await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click()
    const token = (await page.getByTestId('secret').textContent()) ?? ''
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const call = () => fetch(`${gateway.consoleUrl}/api/status`, { method: 'POST', headers, body: '{}' })
    expect((await call()).status).toBe(200)
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await confirmDanger(page, 'Revoke', 'deploy')
    await page.getByText('Revoked', { exact: true }).first().waitFor()
    expect((await call()).status).toBe(401)
  })

  it('shows what a line of the audit changed, proves the chain, and saves it', async () => {
    const { page, visit } = stage
    await visit('/settings/audit')
    await page.getByLabel('Operation').fill('policies')
    await page.keyboard.press('Enter')
    // Newest first: the first edit, which denied a model, is the last row.
    await page
      .getByRole('row', { name: /policies\.edit/ })
      .last()
      .click()
    const line = page.getByRole('dialog', { name: 'policies.edit' })
    await line
      .getByRole('row', { name: /Deny models/ })
      .getByText('o1')
      .waitFor()
    await line.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('row', { name: /policies\.add/ }).click()
    const made = page.getByRole('dialog', { name: 'policies.add' })
    await made.getByRole('heading', { name: 'Created' }).waitFor()
    await made.getByText('gpt-4o-mini*').waitFor()
    expect(await made.getByRole('columnheader').count()).toBe(0)
    await made.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('entries are intact').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^spgw-audit-.*\.jsonl$/)
  })

  it('plans a file, applies it, and writes what stands', async () => {
    const { page, visit, gateway } = stage
    await visit('/settings/configuration')
    await page
      .getByLabel('Configuration file', { exact: true })
      .fill('projects:\n  - name: declared\n    environments:\n      - name: production\n')
    await page.getByRole('button', { name: 'Show plan' }).click()
    await page.getByText(/Create project/).waitFor()
    // A button that is busy keeps the focus.
    await page.getByRole('button', { name: 'Show plan' }).and(page.locator(':focus')).waitFor()
    expect((await gateway.admin.projects.list({})).map(({ name }) => name)).not.toContain('declared')
    await page.getByRole('button', { name: /^Apply \d+ change/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).click()
    await expect.poll(async () => (await gateway.admin.projects.list({})).map(({ name }) => name)).toContain('declared')
    await page.getByRole('button', { name: 'Show plan' }).click()
    await page.getByText('No changes.').waitFor()
    await page.getByLabel('Configuration file', { exact: true }).fill('projects: []')
    await page.getByRole('button', { name: 'Show plan' }).click()
    await page.getByText('tick “Remove resources that are no longer in the file” to remove them').waitFor()
    await page.getByRole('button', { name: 'Export' }).click()
    await page.locator('.code').getByText('declared').waitFor()
  })

  it('makes a recovery key, shown once, and takes a backup', async () => {
    const { page, visit } = stage
    await visit('/settings/seal')
    await page.getByRole('button', { name: 'Create recovery key' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('recovery-key')
    await page.getByRole('dialog').getByRole('button', { name: 'Create recovery key' }).click()
    await page.getByTestId('secret').waitFor()
    await visit('/settings/backup')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download backup' }).click(),
    ])
    expect(download.suggestedFilename()).toMatch(/^spgw-backup-.*\.backup$/)
    await page.getByText('SHA-256').waitFor()
  })

  it('shows whatever stands in it as text', async () => {
    const { page, visit, gateway } = stage
    await gateway.admin.policies.add({ name: 'odd', denyModels: [hostileText] })
    await gateway.admin.operators.add({ name: 'odd', role: 'viewer', displayName: hostileText.slice(0, 110) })
    for (const section of ['policies', 'operators', 'audit'] as const) {
      await visit(`/settings/${section}`)
      await page.getByText('odd').first().waitFor()
      await expectInert(page)
    }
    await expectNarrow(stage, ['/settings/projects', '/settings/policies', '/settings/operators', '/settings/audit'])
    expect(stage.faults()).toEqual([])
  })
})
