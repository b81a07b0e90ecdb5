import { parseArgs } from 'node:util'
import { openBrowser, openPage, type Page, sameSession, signIn } from '../../test/support/browser.ts'
import { startGateway } from '../../test/support/gateway.ts'

/**
 * How long the console takes, in Debian's Chromium: `node scripts/bench/console.ts DIR [ROUNDS]` on a data directory that no
 * gateway uses, such as `scripts/fill-records.ts` makes. Medians, in milliseconds from the moment when the address is asked for.
 */
const { positionals } = parseArgs({ allowPositionals: true })
const [directory, rounds = '9'] = positionals
if (directory === undefined) throw new Error('name a data directory')

const row = 'tbody tr[data-row]'

/** What is asked for, and the sign that it is there. */
const waits: Record<string, (page: Page, url: string) => Promise<number>> = {
  'first paint, nothing kept from before': async (page, url) => {
    await page.goto(`${url}/settings`)
    return await page.evaluate<number>(`new Promise((done) =>
      new PerformanceObserver((list) => {
        const found = list.getEntriesByName('first-contentful-paint')[0]
        if (found !== undefined) done(found.startTime)
      }).observe({ type: 'paint', buffered: true }))`)
  },
  'the page stands, nothing kept from before': (page, url) => timed(page, `${url}/settings`, 'h1'),
  'overview of a day, figures and charts': (page, url) => timed(page, `${url}/`, '.chart canvas'),
  'list of all requests, first rows': (page, url) => timed(page, `${url}/requests?since=all`, row),
  'list of one key, first rows': (page, url) => timed(page, `${url}/requests?since=all&key=ci`, row),
  'list of refusals, first rows': (page, url) => timed(page, `${url}/requests?since=all&error=policy_denied`, row),
  'a hundred older rows at the end of the list': async (page, url) => {
    await timed(page, `${url}/requests?since=all`, row)
    await page.locator(row).first().hover()
    const begun = performance.now()
    await page.mouse.wheel(0, 100_000)
    await page.locator('table:not([aria-rowcount="100"])').waitFor()
    return performance.now() - begun
  },
}

async function timed(page: Page, url: string, sign: string): Promise<number> {
  const begun = performance.now()
  await page.goto(url, { waitUntil: 'commit' })
  await page.locator(sign).first().waitFor()
  return performance.now() - begun
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0
}

const gateway = await startGateway({ dataDirectory: directory })
const browser = await openBrowser()
try {
  const owner = await openPage(browser)
  await signIn(owner, gateway)
  await timed(owner, `${gateway.consoleUrl}/requests?since=all`, row)
  const taken = new Map<string, number[]>()
  for (let round = 0; round < Number(rounds); round++)
    for (const [name, wait] of Object.entries(waits)) {
      const page = await sameSession(owner, browser, {})
      taken.set(name, [...(taken.get(name) ?? []), await wait(page, gateway.consoleUrl)])
      await page.context().close()
    }
  for (const [name, values] of taken)
    process.stdout.write(`${name.padEnd(48)} ${median(values).toFixed(0).padStart(6)} ms\n`)
} finally {
  await browser.close()
  await gateway.stop()
}
