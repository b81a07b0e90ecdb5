import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deriveContract } from '../../scripts/derive-contract.ts'
import { everyPage, type Places } from '../../scripts/pictures/places.ts'
import { addViewer, enterAs, makeHistory } from '../../scripts/pictures/stories.ts'
import {
  findBarriers,
  findCutFigures,
  findHiddenHeads,
  findOverflow,
  hasBrowser,
  openPage,
  type Page,
  signIn,
} from '../support/browser.ts'
import { openStage, type Stage, visit } from '../support/console-stage.ts'
import { startGateway } from '../support/gateway.ts'
import { half, oneOf } from '../support/shows/is-whole.ts'

/** Every page for everybody: each is loaded once, and looked at in both themes and two widths as it stands. */
describe.skipIf(!hasBrowser)('every page of the console (needs chromium)', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage()
  })
  afterAll(() => stage?.stop())

  /** Looked at once there is something. */
  const sameWhenEmpty = /^(account|operation|settings$|settings-(?!policies|tokens))/
  /** Their tables have more columns than a narrow page, or one with limits, has room for. */
  const manyColumns = /^(overview|providers|routing|keys|requests|settings-prices)$/
  const offered = deriveContract()
  /** Each width and each theme once: what a theme can spoil (contrast) does not depend on the width, and the other way round. */
  const looks = [
    { width: 390, theme: 'dark' },
    { width: 1440, theme: 'light' },
  ] as const
  /** Most of the time goes by looking for barriers: in one of the two looks, by chance (`SPGW_SHOWS=all`: in both). */
  const searched = half(looks)

  async function holdToLook(page: Page, name: string, mayHaveBarriers = true): Promise<void> {
    for (const look of looks) {
      const { width, theme } = look
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: theme })
      if (mayHaveBarriers && searched.includes(look))
        expect([name, width, theme, await findBarriers(page)]).toEqual([name, width, theme, []])
      expect([name, width, await findOverflow(page)]).toEqual([name, width, 0])
      if (manyColumns.test(name)) expect([name, width, await findHiddenHeads(page)]).toEqual([name, width, []])
      expect([name, width, await findCutFigures(page)]).toEqual([name, width, []])
    }
  }

  /** Barriers are looked for on the pages that are named. */
  async function lookAt(page: Page, pages: Record<string, string>, searchedPages = Object.keys(pages)): Promise<void> {
    for (const [name, path] of Object.entries(pages)) {
      await visit(page, stage.gateway, path)
      await holdToLook(page, name, searchedPages.includes(name))
    }
  }

  it('can be used by everybody while there is nothing yet', async () => {
    const pages = Object.entries(everyPage({})).filter(([name]) => !sameWhenEmpty.test(name))
    await lookAt(stage.page, Object.fromEntries(oneOf(3, pages)))
    expect(stage.faults()).toEqual([])
  })

  describe('with a few things', () => {
    let places: Places
    beforeAll(async () => {
      places = await makeHistory(stage.gateway, 12)
    })

    it('can be used by everybody', async () => {
      const pages = everyPage(places)
      await lookAt(stage.page, pages, oneOf(3, Object.keys(pages)))
      await visit(stage.page, stage.gateway, '/settings')
      const sections = await stage.page.evaluate<string[]>(
        `[...document.querySelectorAll('main a[href^="/settings/"]')].map(({ pathname }) => pathname)`,
      )
      expect(sections.length).toBeGreaterThan(9)
      expect(sections.filter((path) => !Object.values(pages).includes(path))).toEqual([])
      expect(stage.faults()).toEqual([])
    })

    it('offers a viewer of one project nothing that he may not do, and asks for nothing that he may not see', async () => {
      const page = await openPage(stage.browser)
      const refused: string[] = []
      page.on('response', (answer) => {
        if (answer.status() >= 400) refused.push(`${answer.status()} ${answer.url()} on ${page.url()}`)
      })
      await addViewer(page, stage.gateway)
      const own = new Set(['Set password', 'Set up authenticator', 'Add passkey', 'Sign out'])
      const { refused: _notHis, ...his } = places
      for (const [name, path] of oneOf(3, Object.entries(everyPage(his)))) {
        await visit(page, stage.gateway, path)
        const words = await page.locator('main button, main a.button').allTextContents()
        const offered = words.filter((word) =>
          /^(Add|Create|Edit|Remove|Rotate|Revoke|Rename|Disable|Deactivate|Apply|Send|Test|Verify|Save)/.test(word),
        )
        expect([name, offered.filter((word) => !own.has(word))]).toEqual([name, []])
      }
      expect(refused).toEqual([])
      expect(page.faults()).toEqual([])
      await page.context().close()
    })

    it('offers somebody with different roles in two projects in each what he may do there', async () => {
      const { gateway, browser } = stage
      await gateway.admin.operators.add({ name: 'mia', role: 'admin', projects: ['search'] })
      await gateway.admin.operators.edit({ name: 'mia', role: 'viewer', projects: ['default'] })
      const page = await openPage(browser)
      await enterAs(page, gateway, 'mia')
      const keys = await gateway.admin.keys.list({ all: true })
      const keyIn = (project: string) => keys.find((key) => key.project === project)?.id ?? ''
      const names = /^(Add|Create|Edit|Remove|Rename|Rotate|Revoke|Sending)/
      const expectOffers = async (path: string, words: string[]) => {
        // Whose names the projects have is read after the page itself stands.
        const known = page.waitForResponse(/projects\/list/)
        await visit(page, gateway, path)
        await (await known).finished()
        const offered = async () => {
          const shown = await page.locator('main button, main a.button, main .empty-title').allTextContents()
          return shown.filter((word) => names.test(word)).sort()
        }
        await expect.poll(offered, { message: path }).toEqual(words)
      }
      await expectOffers('/keys?project=default', [])
      await expectOffers('/keys?project=search', ['Create key'])
      await expectOffers(`/keys/${keyIn('default')}`, [])
      await expectOffers(`/keys/${keyIn('search')}`, ['Edit', 'Remove', 'Revoke', 'Rotate'])
      await expectOffers('/settings/projects', ['Add environment', 'Edit'])
      await expectOffers('/settings/policies?project=default', ['Edit', 'Remove'])
      await expectOffers('/playground?project=default', ['Sending requests requires the admin role'])
      await visit(page, gateway, '/keys?create=new')
      const projects = page.getByLabel('Project', { exact: true }).locator('option')
      await expect.poll(() => projects.allTextContents()).toEqual(['search'])
      await page.getByLabel('Name').fill('of-mia')
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByTestId('secret').waitFor()
      await visit(page, gateway, '/settings/operations/routes.add')
      await page.getByLabel('Project').and(page.locator('[value=search]')).waitFor()
      expect(page.faults()).toEqual([])
      await page.context().close()
    })
  })

  it('reaches every operation of the contract by its address, and by the list of all', async () => {
    const { page } = stage
    await visit(page, stage.gateway, '/settings/operations')
    const listed = await page.locator('.operations a').allTextContents()
    expect(listed).toEqual(offered.map(({ path }) => path.join(' ')))
    for (const { name, path, fields } of offered) {
      await page.evaluate(
        `history.pushState(null, '', '/settings/operations/${name}'); dispatchEvent(new PopStateEvent('popstate'))`,
      )
      await page.getByRole('heading', { level: 1, name: path.join(' '), exact: true }).waitFor()
      const form = page.locator('main form')
      const seen = await form.locator('.field, .check, fieldset').count()
      expect([name, seen >= Math.min(1, fields.length), await form.locator('button[type=submit]').count()]).toEqual([
        name,
        true,
        1,
      ])
    }
    await page.reload()
    await page.getByRole('heading', { level: 1, name: offered.at(-1)?.path.join(' ') ?? '' }).waitFor()
    expect(stage.faults()).toEqual([])
  })

  it('is held to the rules by something that sees a barrier', async () => {
    const { page } = stage
    await visit(page, stage.gateway, '/keys')
    await page.evaluate("document.querySelector('main').append(document.createElement('img'))")
    expect(await findBarriers(page)).toEqual([expect.stringContaining('image-alt')])
  })

  it('does not offer what is done at the machine', async () => {
    await visit(stage.page, stage.gateway, '/settings/operations/operators.reset')
    await stage.page.getByText('Operation not found').waitFor()
  })

  it('zooms into the part of a chart that the pointer draws over, and out again', async () => {
    const { page } = stage
    await visit(page, stage.gateway, '/?since=24h')
    const plot = page.locator('.chart .u-over').first()
    // What needs attention stands above it, and may fill the window.
    await plot.scrollIntoViewIfNeeded()
    const box = await plot.boundingBox()
    if (box === null) throw new Error('there is no chart')
    const middle = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.5, middle)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.75, middle, { steps: 4 })
    await page.mouse.up()
    await page.waitForURL(/since=.*until=/)
    const { searchParams } = new URL(page.url())
    const [since, until] = ['since', 'until'].map((word) => Date.parse(searchParams.get(word) ?? ''))
    const hours = ((until ?? 0) - (since ?? 0)) / 3_600_000
    expect(hours).toBeGreaterThan(4)
    expect(hours).toBeLessThan(8)
    await page.goBack()
    await page.waitForURL((url) => !url.searchParams.has('until'))
    await page.getByLabel('Time range').selectOption('Custom range…')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('From').fill('2026-01-02T03:00')
    await dialog.getByLabel('To').fill('2026-01-02T02:00')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('The end must be after the start.').waitFor()
    await dialog.getByLabel('To').fill('2026-01-02T05:00')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await page.waitForURL(/since=.*until=/)
    expect(await page.getByLabel('Time range').locator('option:checked').textContent()).toContain('2 Jan')
  })

  it('says that a part is degraded in a whole word, beside why', async () => {
    const gateway = await startGateway({ config: 'gateway:\n  workers: 1\n' })
    const page = await openPage(stage.browser)
    await signIn(page, gateway)
    await writeFile(join(gateway.dataDirectory, 'config.yaml'), 'gateway:\n  workers: none\n')
    gateway.signal('SIGHUP')
    await gateway.said('"degraded"')
    await visit(page, gateway, '/settings/about')
    for (const { width } of looks) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.locator('.notice .state-word').first().textContent()).toBe('Degraded')
      const cut = await page.evaluate<number>(
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.notice .state-word'))",
      )
      expect([width, cut]).toEqual([width, 0])
    }
    await page.context().close()
    await gateway.stop()
  })

  it('lets nobody wait outside who cannot see', async () => {
    const page = await openPage(stage.browser)
    await visit(page, stage.gateway, '/sign-in')
    await holdToLook(page, 'sign-in')
    await page.context().close()
  })
})
