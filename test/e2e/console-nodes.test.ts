import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Browser, hasBrowser, openBrowser, openPage, signIn } from '../support/browser.ts'
import { TestCluster } from '../support/cluster.ts'
import { confirmDanger, visit } from '../support/console-stage.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const isPossible = hasBrowser && postgresPrograms !== null

/** What one node served, in the console of another. */
describe.skipIf(!isPossible)(`the console of several nodes (needs chromium; ${needsPostgres})`, () => {
  let cluster: TestCluster
  let browser: Browser
  let page: Awaited<ReturnType<typeof openPage>>
  const ids: Record<string, string> = {}
  beforeAll(async () => {
    ;[browser, cluster] = await Promise.all([openBrowser(), TestCluster.start(['gw-a', 'gw-b'], { records: 'shared' })])
    const { admin, createKey, addRoute } = cluster.node('gw-a').gateway
    await admin.providers.add({ name: 'demo', kind: 'demo' })
    await addRoute('demo', ['demo'])
    const { key } = await createKey('web')
    await admin.policies.add({ name: 'all', capture: 'full', attach: ['key:web'] })
    await cluster.converge()
    for (const { name, gateway } of cluster.nodes) {
      const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: `hello ${name}` }] }),
      })
      await answer.text()
      ids[name] = answer.headers.get('x-sp-request-id') ?? ''
    }
    page = await openPage(browser)
    await signIn(page, cluster.node('gw-b').gateway)
    const { gateway } = cluster.node('gw-b')
    while ((await gateway.admin.requests.list({})).length < 2) await new Promise((resolve) => setTimeout(resolve, 25))
  })
  afterAll(async () => {
    await browser?.close()
    await cluster?.stop()
  })

  const rows = () => page.getByRole('row').filter({ has: page.locator('time') })
  const of = (name: string) => expect.stringContaining(name)

  it('has a column and a filter for the node', async () => {
    const { gateway } = cluster.node('gw-b')
    await visit(page, gateway, '/requests')
    await expect.poll(() => rows().count()).toBe(2)
    expect(await page.getByRole('columnheader', { name: 'Node' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'Node' }).check()
    await page.keyboard.press('Escape')
    await page.getByRole('columnheader', { name: 'Node' }).waitFor()
    await expect.poll(() => rows().allTextContents()).toEqual([of('gw-b'), of('gw-a')])
    await rows().getByText('gw-a', { exact: true }).click()
    await page.waitForURL(/node=gw-a/)
    await expect.poll(() => rows().allTextContents()).toEqual([of('gw-a')])
    await page.getByRole('button', { name: 'Remove filter Node' }).click()
    await expect.poll(() => rows().count()).toBe(2)
    expect(page.faults()).toEqual([])
  })

  it('shows the bodies that another node captured, and writes that down', async () => {
    const { gateway } = cluster.node('gw-b')
    await visit(page, gateway, `/requests/${ids['gw-a']}`)
    const bodies = page.getByRole('region', { name: 'Bodies' })
    await bodies.getByRole('button', { name: 'Show bodies' }).click()
    await bodies.getByText('hello gw-a').first().waitFor()
    const read = await cluster.node('gw-a').gateway.admin.audit.list({ operation: 'requests.show', limit: 9 })
    expect(read).toHaveLength(1)
    expect(page.faults()).toEqual([])
  })

  it('names a node that a revocation did not reach', async () => {
    const { gateway } = cluster.node('gw-b')
    const silent = cluster.node('gw-a').gateway
    const { id } = await gateway.createKey('leaked')
    silent.signal('SIGSTOP')
    try {
      await visit(page, gateway, `/keys/${id}`)
      await confirmDanger(page, 'Revoke', 'leaked')
      await page.getByText(/^Not reached: gw-a \(last heard of .*Each admits the key until/).waitFor()
    } finally {
      silent.signal('SIGCONT')
    }
  })

  it('groups figures by node', async () => {
    const { gateway } = cluster.node('gw-b')
    await visit(page, gateway, '/?since=1h')
    await page.getByLabel('Group by').selectOption('node')
    await page.waitForURL(/by=node/)
    const main = page.locator('main')
    for (const name of ['gw-a', 'gw-b']) await main.getByText(name, { exact: true }).first().waitFor()
    expect(page.faults()).toEqual([])
  })
})
