import { expect } from 'vitest'
import { type Browser, findOverflow, openBrowser, openPage, type Page, signIn } from './browser.ts'
import { startGateway, type TestGateway } from './gateway.ts'

export interface Stage {
  gateway: TestGateway
  browser: Browser
  /** Of the one owner. */
  page: Page
  /** Below the console's address, and loaded. */
  visit(path: string): Promise<void>
  faults(): string[]
  stop(): Promise<void>
}

/** A gateway of its own with a browser that is signed in to it. */
export async function openStage(): Promise<Stage> {
  const gateway = await startGateway()
  const browser = await openBrowser()
  const page = await openPage(browser)
  await signIn(page, gateway)
  return {
    gateway,
    browser,
    page,
    visit: (path) => visit(page, gateway, path),
    faults: () => page.faults(),
    async stop() {
      await browser.close()
      await gateway.stop()
    },
  }
}

/** Below the console's address, and loaded. */
export async function visit(page: Page, gateway: TestGateway, path: string): Promise<void> {
  await page.goto(gateway.consoleUrl + path)
  await page.getByRole('heading', { level: 1 }).waitFor()
  // Lists and figures are read after the page itself stands.
  await page.locator('.loading').waitFor({ state: 'detached' })
}

/** Dangerous things ask for the name; `word` is on the button that opens the question, and on the one that answers it. */
export async function confirmDanger(page: Page, word: string, name: string): Promise<void> {
  await page.getByRole('button', { name: word, exact: true }).first().click()
  const dialog = page.getByRole('dialog')
  const answer = dialog.getByRole('button', { name: word, exact: true })
  expect(await answer.isDisabled()).toBe(true)
  await dialog.getByRole('textbox').fill(name)
  await answer.click()
}

/** On a small screen, too, no page is wider than its window, whatever stands in it. */
export async function expectNarrow({ page, visit }: Stage, paths: readonly string[]): Promise<void> {
  await page.setViewportSize({ width: 390, height: 900 })
  for (const path of paths) {
    await visit(path)
    expect([path, await findOverflow(page)]).toEqual([path, 0])
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

/** Markup, a turning mark, and length: what must be shown as it is, and obeyed by nobody. */
export const hostileMarkup = '<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>'
export const hostileText = `${hostileMarkup}\u202egnirts`
export const longText = 'x'.repeat(10_000)

/** Nothing of it ran, nothing of it turned the text around it, and the page is no wider than its window. */
export async function expectInert(page: Page): Promise<void> {
  expect(await page.evaluate(() => Reflect.get(globalThis, 'hurt') ?? null)).toBeNull()
  expect(await page.locator('main img, main script').count()).toBe(0)
  // But for what somebody has typed, which stands in its own field.
  const shown = await page.locator('main :not(textarea, :has(*))').allTextContents()
  expect(shown.filter((text) => text.includes('\u202e'))).toEqual([])
  expect(await findOverflow(page)).toBeLessThanOrEqual(0)
}
