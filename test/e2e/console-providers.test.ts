import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findBarriers, hasBrowser } from '../support/browser.ts'
import {
  confirmDanger,
  expectInert,
  expectNarrow,
  hostileText,
  longText,
  openStage,
  type Stage,
} from '../support/console-stage.ts'
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts'

const credential = 'sk-mock-credential-of-openai'

describe.skipIf(!hasBrowser)('Providers in the console (needs chromium)', () => {
  let stage: Stage
  let mock: MockProvider
  beforeAll(async () => {
    mock = await startMockProvider('openai', credential)
    stage = await openStage()
  })
  afterAll(async () => {
    await stage?.stop()
    await mock?.close()
  })

  it('has a place that says what belongs there', async () => {
    const { page, visit } = stage
    await visit('/providers')
    await page.getByText('No providers yet').waitFor()
    await page.getByText('spgw providers add openai --kind openai --credential-stdin').waitFor()
  })

  it('follows a check step by step and takes the base URL that it found', async () => {
    const { page, visit, gateway } = stage
    await visit('/providers')
    await page.getByRole('button', { name: 'Add provider' }).click()
    await page.getByRole('radio', { name: /^OpenAI/ }).check()
    await page.getByLabel('OpenAI API key').fill(credential)
    await page.getByText('More settings').click()
    await page.getByLabel('Base URL').fill(mock.origin)
    await page.getByRole('button', { name: 'Check and add' }).click()
    const check = page.getByRole('region', { name: 'Provider check' })
    await check.getByText('Find the API at the base URL: failed').waitFor()
    await check.getByText('Verify the credential: waiting').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await check.getByText('To add it without a check: More settings, Skip check.').waitFor()
    expect(await gateway.admin.providers.list({})).toEqual([])

    await page.getByLabel('Base URL').fill('http://127.0.0.1:9')
    await page.getByText('More settings', { exact: true }).click()
    await page.getByRole('button', { name: 'Check and add' }).click()
    await check.getByText('Connect to the server: failed').waitFor()
    await page.getByLabel('Skip check').waitFor({ state: 'visible' })
    await page.getByLabel('Base URL').fill(mock.origin)
    await page.getByRole('button', { name: 'Check and add' }).click()
    await check.getByText('Find the API at the base URL: failed').waitFor()

    await check.getByRole('button', { name: `Use ${mock.origin}/v1` }).click()
    expect(await page.getByLabel('Base URL').inputValue()).toBe(`${mock.origin}/v1`)
    await page.getByRole('button', { name: 'Check and add' }).click()
    await page.getByRole('heading', { level: 1, name: 'openai' }).waitFor()
    const [stored] = await gateway.admin.providers.list({})
    expect(stored).toMatchObject({ name: 'openai', state: 'ready', base_url: `${mock.origin}/v1` })
    await page.getByText(`…${credential.slice(-4)}`).waitFor()
    expect(await page.content()).not.toContain(credential)
  })

  it('makes a revision of a change, compares it, and goes back', async () => {
    const { page, visit, gateway } = stage
    await visit('/providers/openai')
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    const form = page.getByRole('dialog', { name: 'Edit openai' })
    await form.getByText('More settings').click()
    await form.getByLabel('First byte timeout').fill('45s')
    await form.getByLabel('Allow private').check()
    await form.getByRole('button', { name: 'Save' }).click()
    await page.getByText('first byte 45').waitFor()
    expect((await gateway.admin.providers.show({ name: 'openai' })).settings).toMatchObject({ allow_private: true })

    const revisions = page.getByRole('region', { name: 'Revisions' })
    // The list is read by a question of its own, which may be answered after the provider's.
    const second = revisions.getByRole('listitem').filter({ has: page.getByText('2', { exact: true }) })
    await second.getByRole('button', { name: 'Compare' }).click()
    const dialog = page.getByRole('dialog', { name: 'Revision 2' })
    await dialog.getByRole('row', { name: /Timeouts, first byte Not set 45\.0 s/ }).waitFor()
    // Somebody else goes back and forth meanwhile.
    await gateway.admin.providers.rollback({ name: 'openai', revision: 1 })
    await page.getByRole('dialog', { name: 'Revision 2 compared with the active revision' }).waitFor()
    await gateway.admin.providers.rollback({ name: 'openai', revision: 2 })
    await dialog.getByText('Changes since revision 1').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()

    await revisions.getByRole('button', { name: 'Make active' }).click()
    await expect
      .poll(async () => (await gateway.admin.providers.show({ name: 'openai' })).timeouts.first_byte_ms)
      .toBe(null)
    await page.getByText('Gateway defaults').waitFor()
  })

  it('keeps a pool of credentials: added, replaced, removed, never shown', async () => {
    const { page, visit, gateway } = stage
    await visit('/providers/openai')
    const pool = page.getByRole('region', { name: 'Credentials' })
    await pool.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('dialog').getByLabel('Credential', { exact: true }).fill('sk-second-credential-00b2')
    await page.getByRole('dialog').getByText('More settings').click()
    await page.getByRole('dialog').getByLabel('Skip check').check()
    await page.getByRole('button', { name: 'Check and add' }).click()
    await pool.getByText('…00b2').waitFor()

    await pool.getByRole('listitem').filter({ hasText: '00b2' }).getByRole('button', { name: 'Replace' }).click()
    await page.getByLabel('New credential').fill('sk-third-credential-00c3')
    await page.getByRole('dialog').getByText('More settings').click()
    await page.getByRole('dialog').getByLabel('Skip check').check()
    await page.getByRole('button', { name: 'Check and replace' }).click()
    await pool.getByText('…00c3').waitFor()
    expect(await pool.getByText('…00b2').count()).toBe(0)

    const third = pool.getByRole('listitem').filter({ hasText: '00c3' })
    await third.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('00c3')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await expect.poll(async () => (await gateway.admin.providers.show({ name: 'openai' })).credentials.length).toBe(1)
  })

  it('says that the only credential is needed, and asks for no name', async () => {
    const { page, visit } = stage
    await visit('/providers/openai')
    const pool = page.getByRole('region', { name: 'Credentials' })
    await pool.getByRole('button', { name: 'Remove' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This is the only credential of openai').waitFor()
    expect(await dialog.getByRole('textbox').count()).toBe(0)
  })

  it('is switched off and on, and checked again', async () => {
    const { page, visit, gateway } = stage
    await visit('/providers/openai')
    await page.getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate' }).click()
    await page.getByRole('button', { name: 'Activate', exact: true }).click()
    await page.getByRole('button', { name: 'Deactivate' }).waitFor()
    expect((await gateway.admin.providers.show({ name: 'openai' })).active).toBe(true)
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByRole('dialog').getByText('List the models: done').waitFor()
  })

  it('says what depends on it before it is removed, and refuses while something does', async () => {
    const { page, visit, gateway } = stage
    await gateway.addRoute('gpt-4o-mini', ['openai'])
    await visit('/providers/openai')
    await page.getByRole('link', { name: 'gpt-4o-mini' }).waitFor()
    await page.getByRole('button', { name: 'Remove', exact: true }).first().click()
    await page.getByRole('dialog').getByText('cannot be removed while 1 route uses it').waitFor()
    await page.getByRole('dialog').getByRole('link', { name: 'gpt-4o-mini' }).waitFor()
    expect(await page.getByRole('dialog').getByRole('textbox').count()).toBe(0)
    await gateway.admin.routes.remove({ model: 'gpt-4o-mini' })
    await visit('/providers/openai')
    await confirmDanger(page, 'Remove', 'openai')
    await page.getByText('No providers yet').waitFor()
    expect(await gateway.admin.providers.list({})).toEqual([])
  })

  it('shows whatever stands in it as text', async () => {
    const { page, visit, gateway } = stage
    await gateway.admin.providers.add({
      name: 'odd',
      kind: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:9/v1',
      headers: { 'x-odd': '<img src=x onerror="window.hurt=1">' },
      tags: { odd: hostileText.slice(0, 200) },
      skipCheck: true,
    })
    await visit('/providers/odd')
    await page.getByText('onerror').first().waitFor()
    await expectInert(page)
    for (const text of [hostileText, longText]) {
      await visit('/providers?add=openai')
      await page.getByLabel('Name', { exact: true }).fill(text)
      await page.getByLabel('OpenAI API key').fill('sk-any')
      await page.getByRole('button', { name: 'Check and add' }).click()
      await page.locator('.field-error:not(:empty), .notice-bad').first().waitFor()
      await expectInert(page)
    }
    await expectNarrow(stage, ['/providers', '/providers/odd'])
    expect(stage.faults()).toEqual([])
  })
})
