import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, openBrowser, openPage, type Page, sameSession, signIn, themes } from '../test/support/browser.ts'
import { startGateway, type TestGateway } from '../test/support/gateway.ts'
import { everyPage, type Places } from './pictures/places.ts'
import { addViewer, makeHistory, shrunk } from './pictures/stories.ts'
import { readFlags } from './read-flags.ts'

const help = `npm run pictures [-- FLAGS]

Makes pictures of every page of the console, to be looked at: each page empty, with a few things, with many records, and as a
viewer of one project sees it; in both themes and in two widths. Needs dist/spgw (npm run package) and Debian's chromium.

  --to DIR        put them there (a new directory, whose name is printed)
  --only NAME     only pages whose name contains this
  --state STATE   only this one: empty, few, full, viewer
  --theme THEME   only this one: light, dark
  --width N       only this one: 390, 1440; a few pages, light, also in 360 and 2560
  --records N     as many in the state full (100000)
  --requests N    as many in the state few (40)
  --readme        make those of docs/images instead, from requests that the demo provider answered
`
const { values } = readFlags(help, {
  options: {
    to: { type: 'string' },
    only: { type: 'string' },
    state: { type: 'string' },
    theme: { type: 'string' },
    width: { type: 'string' },
    records: { type: 'string', default: '100000' },
    requests: { type: 'string', default: '40' },
    readme: { type: 'boolean', default: false },
  },
})

const root = join(import.meta.dirname, '..')
process.env.SPGW_TEST_EXECUTABLE ??= join(root, 'dist/spgw')
const directory = values.readme
  ? join(root, 'docs/images')
  : (values.to ?? (await mkdtemp(join(tmpdir(), 'spgw-pictures-'))))

interface Scene {
  gateway: TestGateway
  /** Signed in. */
  page: Page
  places: Places
}

/** By what there is to see. */
const scenes: Record<string, (browser: Browser, use: (scene: Scene) => Promise<void>) => Promise<void>> = {
  empty: (browser, use) =>
    inGateway(undefined, async (gateway) => {
      const page = await openPage(browser)
      await signIn(page, gateway)
      await use({ gateway, page, places: {} })
    }),
  few: (browser, use) =>
    inGateway(undefined, async (gateway) => {
      const page = await openPage(browser)
      await signIn(page, gateway)
      await use({ gateway, page, places: await makeHistory(gateway, Number(values.requests)) })
    }),
  viewer: (browser, use) =>
    inGateway(undefined, async (gateway) => {
      await signIn(await openPage(browser), gateway)
      const places = await makeHistory(gateway, 20)
      const page = await openPage(browser)
      await addViewer(page, gateway)
      await use({ gateway, page, places })
    }),
  full: async (browser, use) => {
    const data = await mkdtemp(join(tmpdir(), 'spgw-full-'))
    try {
      const fill = ['scripts/fill-records.ts', '--data-dir', data, '--records', values.records, '--resources']
      await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', ...fill], { cwd: root })
      await inGateway(data, async (gateway) => {
        const page = await openPage(browser)
        await signIn(page, gateway)
        await use({ gateway, page, places: await shrunk(gateway) })
      })
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  },
}

async function inGateway(data: string | undefined, use: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway(data === undefined ? {} : { dataDirectory: data })
  try {
    await use(gateway)
  } finally {
    await gateway.stop()
  }
}

interface PageLook {
  theme: 'light' | 'dark'
  width: number
}

const height = 900
/** Wide enough for three of them, too: what is stretched or crushed shows there first. */
const extremes = ['overview', 'requests', 'record']

async function photograph(browser: Browser, state: string, { gateway, page, places }: Scene): Promise<void> {
  for (const theme of themes)
    for (const width of [390, 1440, ...(theme === 'light' ? [360, 2560] : [])]) {
      if ((values.theme ?? theme) !== theme || (values.width ?? String(width)) !== String(width)) continue
      const look = await sameSession(page, browser, { theme, width })
      reportRefusals(look, `${state} ${theme} ${width}`)
      for (const [name, path] of Object.entries(everyPage(places))) {
        if (values.only !== undefined && !name.includes(values.only)) continue
        if ((width === 360 || width === 2560) && !extremes.includes(name)) continue
        await show(look, gateway, path)
        await stretch(look, width)
        await look.screenshot({ path: join(directory, `${name}-${state}-${theme}-${width}.png`) })
        await look.setViewportSize({ width, height })
      }
      await look.context().close()
      if (state === 'empty') await photographSignIn(browser, gateway, { theme, width })
    }
}

/** As somebody without a session sees it, who may have had one. */
async function photographSignIn(browser: Browser, gateway: TestGateway, look: PageLook): Promise<void> {
  const page = await openPage(browser, look)
  const link = await gateway.admin.console.link({})
  const pages = { 'sign-in': '/sign-in', 'sign-in-ended': '/sign-in?ended=true', link: new URL(link.url).pathname }
  for (const [name, path] of Object.entries(pages)) {
    if (values.only !== undefined && !name.includes(values.only)) continue
    await show(page, gateway, path)
    await page.screenshot({ path: join(directory, `${name}-empty-${look.theme}-${look.width}.png`) })
  }
  await page.context().close()
}

async function show(page: Page, gateway: TestGateway, path: string): Promise<void> {
  await page.goto(gateway.consoleUrl + path)
  await page.locator('h1').first().waitFor()
  await page.locator('.loading').waitFor({ state: 'detached' })
  if (path === '/' || path.startsWith('/?')) await page.locator('.first-run, .chart canvas').first().waitFor()
  await settle(page)
}

/** The page scrolls within its window: so that all of it is in the picture, the window is made as high as what is in it. */
async function stretch(page: Page, width: number): Promise<void> {
  const hidden = await page.evaluate<number>(
    "(() => { const main = document.querySelector('#main') ?? document.body; return main.scrollHeight - main.clientHeight })()",
  )
  if (hidden <= 0) return
  await page.setViewportSize({ width, height: Math.min(height + hidden, 6000) })
  await settle(page)
}

/** Charts and lists draw themselves after what they show has come. */
function settle(page: Page): Promise<unknown> {
  return page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 400)))')
}

/** A page asks for nothing that its reader may not see. */
function reportRefusals(page: Page, where: string): void {
  page.on('response', (answer) => {
    if (answer.status() >= 400)
      process.stdout.write(`${where}: ${answer.status()} ${new URL(answer.url()).pathname} on ${page.url()}\n`)
  })
}

async function makeReadmePictures(browser: Browser): Promise<void> {
  await inGateway(undefined, async (gateway) => {
    const page = await openPage(browser, { height: 1000 })
    await signIn(page, gateway)
    const places = await makeHistory(gateway, 240, 350)
    await show(page, gateway, '/?since=2m')
    await page.screenshot({ path: join(directory, 'console-overview.png') })
    await show(page, gateway, `/requests/${places.fallback ?? ''}`)
    await page.screenshot({ path: join(directory, 'console-request.png') })
  })
}

await mkdir(directory, { recursive: true })
const browser = await openBrowser()
try {
  if (values.readme) await makeReadmePictures(browser)
  else
    for (const [state, open] of Object.entries(scenes))
      if (values.state === undefined || values.state === state)
        await open(browser, (scene) => photograph(browser, state, scene))
} finally {
  await browser.close()
}
process.stdout.write(`${directory}\n`)
