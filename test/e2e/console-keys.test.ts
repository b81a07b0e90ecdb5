import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import {
  confirmDanger,
  expectInert,
  expectNarrow,
  hostileText,
  longText,
  openStage,
  type Stage,
} from '../support/console-stage.ts'

describe.skipIf(!hasBrowser)('Keys in the console (needs chromium)', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage?.stop())

  const keyNamed = async (name: string) =>
    (await stage.gateway.admin.keys.list({ all: true })).find((key) => key.name === name)
  const ask = (key: string) =>
    fetch(`${stage.gateway.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${key}` } })

  it('has a place that says what belongs there', async () => {
    const { page, visit } = stage
    await visit('/keys')
    await page.getByText('spgw keys create --name ci').waitFor()
  })

  describe('with a model to ask for', () => {
    beforeAll(async () => {
      await stage.gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
      await stage.gateway.addRoute('demo', ['demo'])
    })

    it('shows a new key once, with code that runs', async () => {
      const { page, visit, gateway } = stage
      await visit('/keys')
      await page.getByRole('button', { name: 'Create key' }).click()
      // Whoever opens a form can write at once, in a page as in a dialog.
      await page.getByLabel('Name', { exact: true }).and(page.locator(':focus')).waitFor()
      await page.keyboard.type('ci')
      await page.getByLabel('Expires').fill('90d')
      await page.getByRole('button', { name: 'Create key' }).click()
      const secret = (await page.getByTestId('secret').textContent()) ?? ''
      expect(secret).toMatch(/^sp_live_\w{49}$/)
      expect((await ask(secret)).status).toBe(200)
      await page.getByRole('button', { name: 'Copy key' }).click()
      await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(secret)
      for (const title of ['OpenAI Python', 'Anthropic JavaScript', 'Gemini CLI', 'Codex', 'Claude Code', 'curl']) {
        await page.getByRole('tab', { name: title }).click()
        const code = (await page.getByRole('tabpanel').textContent()) ?? ''
        expect(code, title).toContain(secret)
        expect(code, title).toContain(gateway.baseUrl)
        expect(code, title).toContain('demo')
      }
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByRole('link', { name: 'ci', exact: true }).waitFor()
      expect(await page.content()).not.toContain(secret)
      await visit('/keys')
      expect(await page.content()).not.toContain(secret)
      await page.getByText(`sp_live_…${secret.slice(-4)}`).waitFor()
    })

    it('is edited, and rotated with a grace in which both secrets work', async () => {
      const { page, visit, gateway } = stage
      const first = await gateway.createKey('web')
      await visit(`/keys/${first.id}`)
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      await page.getByRole('dialog').getByLabel('Expires').fill('30d')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(async () => (await keyNamed('web'))?.expires_at).not.toBeNull()
      await page.getByRole('button', { name: 'Rotate', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click()
      const second = (await page.getByTestId('secret').textContent()) ?? ''
      expect(second).not.toBe(first.key)
      expect([(await ask(first.key)).status, (await ask(second)).status]).toEqual([200, 200])
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByText('Old secret', { exact: true }).waitFor()
    })

    it('is revoked, then removed, and says what it was used for', async () => {
      const { page, visit, gateway } = stage
      const { key, id } = await gateway.createKey('batch')
      expect((await ask(key)).status).toBe(200)
      await visit(`/keys/${id}`)
      await page.getByText('Recent requests').waitFor()
      await page.getByRole('button', { name: 'Revoke' }).first().click()
      await page.getByRole('dialog').getByLabel('Also stop requests in progress').check()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      await confirmDanger(page, 'Revoke', 'batch')
      await page.getByRole('heading', { level: 1 }).locator('..').getByText('revoked').waitFor()
      expect((await ask(key)).status).toBe(401)
      await confirmDanger(page, 'Remove', 'batch')
      await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
      expect(await keyNamed('batch')).toBeUndefined()
    })

    it('has only the rows of a long list in the page that are near the window', async () => {
      const { page, visit, gateway } = stage
      for (let count = 0; count < 120; count++) await gateway.createKey(`many-${count}`)
      await visit('/keys')
      const table = page.locator('table[aria-rowcount]')
      await expect.poll(async () => Number(await table.getAttribute('aria-rowcount'))).toBeGreaterThan(119)
      await page.locator('tr[data-row="0"]').waitFor()
      expect(await page.locator('tr[data-row]').count()).toBeLessThan(80)
      await page.keyboard.press('j')
      for (let count = 0; count < 99; count++) await page.keyboard.press('j')
      await page.locator('tr[data-row="99"]:focus').waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Rotate' }).waitFor()
      await page.goBack()
      await page.locator('tr[data-row="99"]:focus').waitFor()
      for (const key of await gateway.admin.keys.list({ all: true }))
        if (key.name.startsWith('many-')) await gateway.admin.keys.remove({ key: key.id })
    })

    it('shows whatever stands in it as text', async () => {
      const { page, visit, gateway } = stage
      const { id } = await gateway.createKey('odd', { tags: { odd: hostileText, long: longText } })
      await visit(`/keys/${id}`)
      await page.getByText('onerror').first().waitFor()
      await expectInert(page)
      for (const text of [hostileText, longText]) {
        await visit('/keys?create=new')
        await page.getByLabel('Name', { exact: true }).fill(text)
        await page.getByRole('button', { name: 'Create key' }).click()
        await page.locator('.field-error:not(:empty), .notice-bad').first().waitFor()
        await expectInert(page)
      }
      await expectNarrow(stage, ['/keys', `/keys/${id}`])
      expect(stage.faults()).toEqual([])
    })
  })
})
