import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import type { TestGateway } from './gateway.ts'

/** Debian's Chromium; none is downloaded. The one without windows (`.ci/run` installs it) takes half of the processor time. */
const executablePath =
  ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)) ?? null
export const hasBrowser = executablePath !== null

export const themes = ['light', 'dark'] as const
export type Theme = (typeof themes)[number]

export interface PageOptions {
  theme?: Theme
  width?: number
  height?: number
}

/** One for a test file: `beforeAll(openBrowser)`, and closed in `afterAll`. */
export async function openBrowser(): Promise<Browser> {
  if (executablePath === null) throw new Error('there is no chromium: apt-get install chromium-headless-shell')
  // As root, which containers are run as, Chromium has no sandbox to offer.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  // A page of somebody else's (an identity provider's) may ask for what is elsewhere, and is told at once that there is no such host.
  const hosts = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost'
  // No page stands long enough to be worth optimizing, or a process of its own: a third of the processor time went there.
  const plain = ['--disable-gpu', '--js-flags=--no-turbofan --no-maglev', '--renderer-process-limit=1']
  return await chromium.launch({ executablePath, args: [...sandbox, hosts, ...plain] })
}

/** For anything that a page is asked to do. */
const patienceMs = 60_000

/** A page with nothing kept from before. What goes wrong in it is thrown by `faults()`. */
export async function openPage(browser: Browser, options: PageOptions = {}): Promise<Page & { faults(): string[] }> {
  const { theme = 'light', width = 1440, height = 900 } = options
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs)
  const faults = collectFaults(page)
  return Object.assign(page, { faults: () => faults })
}

/** Exceptions, refusals of the content security policy, and files that are not there. */
function collectFaults(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    // An answer of 401 or 404 is the matter of whoever asked.
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) faults.push(message.text())
  })
  return faults
}

/** Signs in by a link made on the admin socket, as the one owner. */
export async function signIn(page: Page, gateway: TestGateway): Promise<void> {
  const { url } = await gateway.admin.console.link({})
  await page.goto(url)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}

/** Another page of the same session, in another theme or size. */
export async function sameSession(page: Page, browser: Browser, options: PageOptions): Promise<Page> {
  const other = await openPage(browser, options)
  await other.context().addCookies(await page.context().cookies())
  return other
}

const standards = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

/** What WCAG 2.2 AA forbids on the page as it stands, one line each. */
export async function findBarriers(page: Page): Promise<string[]> {
  // Once for each page that is loaded: compiling axe takes as long as asking it. @axe-core/playwright does it for each question.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source)
  const options: axe.RunOptions = { runOnly: { type: 'tag', values: standards }, resultTypes: ['violations'] }
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${JSON.stringify(options)})`)
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(' ')} ${html}`))
}

/** Pixels by which the page is wider than its window; none is allowed. */
export function findOverflow(page: Page): Promise<number> {
  return page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')
}

/** Times, figures and names of models in tables that are cut off, where half of one says something else. */
export function findCutFigures(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const isCut = (part) => getComputedStyle(part).overflowX !== 'visible' &&
      (part.scrollWidth > part.clientWidth || (part.matches('.two-lines') && part.scrollHeight > part.clientHeight))
    // Where there is room for one line only, its title has the whole name.
    const names = innerWidth < 700 ? ', .two-lines' : ''
    return [...document.querySelectorAll('.table tbody :is(time, .number' + names + ')')]
      // The table of a chart is for those who do not see it, until somebody opens it.
      .filter((figure) => figure.closest('details, .visually-hidden') === null && figure.offsetParent !== null)
      .filter((figure) => [figure, figure.parentElement, figure.closest('td')].some(isCut))
      .map((figure) => figure.textContent)
  })()`)
}

/** Heads of tables that are cut off, or that the choice of columns covers. */
export function findHiddenHeads(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const isCut = (part) => getComputedStyle(part).overflowX !== 'visible' && part.scrollWidth > part.clientWidth
    const rightOf = (head) => {
      const text = document.createRange()
      text.selectNodeContents(head)
      return text.getBoundingClientRect().right
    }
    return [...document.querySelectorAll('.table thead th')]
      .filter((head) => head.offsetParent !== null && head.textContent !== '')
      // Cards keep their heads for those who do not see them.
      .filter((head) => getComputedStyle(head.closest('thead')).clipPath === 'none')
      .filter((head) => {
        const choice = head.closest('.table-scroll').parentElement.querySelector('.table-corner .button')
        const covered = choice != null && rightOf(head) > choice.getBoundingClientRect().left
        return covered || [head, ...head.querySelectorAll('*')].some(isCut)
      })
      .map((head) => head.textContent)
  })()`)
}

export type { Browser, Locator, Page }
