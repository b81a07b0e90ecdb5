import { globSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { isWhole } from '../support/shows/is-whole.ts'

/** Days of a budget in a zone whose clocks are changed, as the whole gateway counts them; with other clocks by `faketime`. */

const timeZone = 'Europe/Berlin'
const hourMs = 3_600_000
/** Debian's. */
const library = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')[0]

let provider: http.Server
let baseUrl: string
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-days-'))
  provider = http.createServer(async (request, response) => {
    await request.resume().toArray()
    const usage = { prompt_tokens: 999, completion_tokens: 1, total_tokens: 1000 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'a' } }], usage }))
  })
  baseUrl = `${await listen(provider)}/v1`
})

afterAll(async () => {
  provider.closeAllConnections()
  provider.close()
  await rm(directory, { recursive: true, force: true })
})

/** `clock`: what it is when the gateway starts; null: the machine's. */
async function open(name: string, clock: number | null): Promise<TestGateway> {
  // The program `faketime` would stay between the test and the gateway.
  const faked: Record<string, string> =
    clock === null
      ? {}
      : { LD_PRELOAD: library ?? '', FAKETIME: `@${written(clock)}`, FAKETIME_DONT_FAKE_MONOTONIC: '1' }
  return await startGateway({
    dataDirectory: join(directory, name),
    environment: { TZ: 'UTC', SPGW_GATEWAY_WORKERS: '1', ...faked },
  })
}

const written = (clock: number) => new Date(clock).toISOString().slice(0, 19).replace('T', ' ')

async function furnish({ admin, createKey }: TestGateway): Promise<string> {
  await admin.providers.add({ name: 'openai', kind: 'openai', baseUrl, credential: 'sk-days-shown', skipCheck: true })
  await admin.routes.add({ model: 'gpt-a', targets: ['openai'] })
  await admin.prices.set({ model: 'gpt-a', input: 1, output: 1 })
  await admin.workspace.edit({ timeZone })
  await admin.policies.add({ name: 'day', budgetUsdDay: 1, attach: ['workspace'] })
  return (await createKey('spender')).key
}

/** A tenth of a cent. */
async function spend(gateway: TestGateway, key: string): Promise<void> {
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-a', max_tokens: 1, messages: [] }),
  })
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
}

async function usage({ admin }: TestGateway) {
  await admin.requests.list({ limit: 1 })
  const [found] = await admin.policies.usage({ name: 'day' })
  return { used: found?.periods[0]?.used, resetsAt: found?.periods[0]?.resets_at }
}

describe('a day of a budget', () => {
  it('ends at the next midnight of the zone', async () => {
    await mkdir(join(directory, 'now'))
    const gateway = await open('now', null)
    const key = await furnish(gateway)
    await spend(gateway, key)
    const { resetsAt } = await usage(gateway)
    await gateway.stop()
    const end = Date.parse(resetsAt ?? '')
    const hour = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'medium' })
    expect(hour.format(end)).toBe('00:00:00')
    expect(end - Date.now()).toBeLessThan(25 * hourMs)
  })

  if (!isWhole || library === undefined) return

  it.each([
    { name: 'spring', begins: '2026-03-28T23:00:00Z', change: '2026-03-29T01:00:00Z', hours: 23 },
    { name: 'autumn', begins: '2026-10-24T22:00:00Z', change: '2026-10-25T01:00:00Z', hours: 25 },
  ])('has $hours hours in $name (needs faketime)', async ({ name, begins, change, hours }) => {
    await mkdir(join(directory, name))
    const begin = Date.parse(begins)
    const end = begin + hours * hourMs
    const at = (moment: number) => new Date(moment).toISOString()
    let key = ''
    const seen: string[] = []
    for (const { clock, used, resets } of [
      { clock: begin - 60_000, used: 0.001, resets: begin },
      { clock: begin + 5000, used: 0.001, resets: end },
      { clock: Date.parse(change) - 30_000, used: 0.002, resets: end },
      { clock: Date.parse(change) + 5000, used: 0.003, resets: end },
      { clock: end - 120_000, used: 0.004, resets: end },
      { clock: end + 5000, used: 0.001, resets: end + 24 * hourMs },
    ]) {
      const gateway = await open(name, clock)
      if (key === '') key = await furnish(gateway)
      await spend(gateway, key)
      const found = await usage(gateway)
      seen.push(`${at(clock)}: used ${found.used}, resets ${found.resetsAt}`)
      expect(found, seen.join('\n')).toEqual({ used, resetsAt: at(resets) })
      await gateway.kill('SIGTERM')
    }
  })

  it('ends while the gateway runs, and what is spent afterwards is the next one’s (needs faketime)', async () => {
    await mkdir(join(directory, 'live'))
    const end = Date.parse('2026-03-29T22:00:00Z')
    const gateway = await open('live', end - 20_000)
    const key = await furnish(gateway)
    await spend(gateway, key)
    expect(await usage(gateway)).toEqual({ used: 0.001, resetsAt: new Date(end).toISOString() })
    const next = new Date(end + 24 * hourMs).toISOString()
    await expect.poll(() => usage(gateway)).toEqual({ used: 0, resetsAt: next })
    await spend(gateway, key)
    await spend(gateway, key)
    expect(await usage(gateway)).toEqual({ used: 0.002, resetsAt: next })
    await gateway.stop()
  })
})
