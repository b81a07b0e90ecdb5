import http from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hasBrowser, openBrowser, openPage, signIn } from '../support/browser.ts'
import { hasProgram } from '../support/executable.ts'
import { gatewayCommand, startGateway, type TestGateway } from '../support/gateway.ts'
import { Pane } from '../support/pane.ts'
import { send } from '../support/raw-http.ts'

/** `cut` breaks off every answer that it began. */
const names = ['dead', 'half', 'healthy', 'cut'] as const
const inOneRoute = ['dead', 'half', 'healthy'] as const
type Name = (typeof names)[number]
interface Figures {
  tried: number
  failed: number
  fell_back: number
}

let gateway: TestGateway
const servers: http.Server[] = []
/** What each provider was asked for, and what of it failed, as it knows itself. */
const asked: Record<Name, number> = { dead: 0, half: 0, healthy: 0, cut: 0 }
/** Requests of the first route, all of them answered by the one provider or the other. */
const answered = 40
/** Fewer than what pauses a provider. */
const brokenOff = 4
/** What every surface must say; read in the first test. */
let expected: Record<string, Figures> = {}

beforeAll(async () => {
  gateway = await startGateway()
  const addresses: Record<Name, string> = {
    dead: `http://127.0.0.1:${await closedPort()}/v1`,
    half: await listen('half', (count) => count % 2 === 1),
    healthy: await listen('healthy', () => false),
    cut: await listen('cut', () => false),
  }
  for (const name of names)
    await gateway.admin.providers.add({
      name,
      kind: 'openai',
      baseUrl: addresses[name],
      credential: 'sk-of-the-provider',
      skipCheck: true,
    })
  await gateway.addRoute(
    'any',
    inOneRoute.map((name) => `${name}:${name}-model`),
    { retries: 0 },
  )
  await gateway.addRoute('broken', ['cut:cut-model'])
  const keys = await Promise.all(['one', 'two'].map(async (name) => (await gateway.createKey(name)).key))
  // Eight at a time, so that the attempts of one request end among those of others.
  const calls = Array.from({ length: answered }, (_, count) => keys[count % 2] ?? '')
  const callAll = async () => {
    for (let key = calls.pop(); key !== undefined; key = calls.pop()) expect(await call(key, 'any')).toBe(200)
  }
  await Promise.all(Array.from({ length: 8 }, callAll))
  for (let count = 0; count < brokenOff; count++) expect(await call(keys[count % 2] ?? '', 'broken')).toBe(200)
})

afterAll(async () => {
  await gateway.stop()
  for (const server of servers) server.closeAllConnections()
  for (const server of servers) server.close()
})

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function listen(name: Name, fails: (count: number) => boolean): Promise<string> {
  const server = http.createServer((request, response) => {
    request.resume()
    const list = request.url === '/v1/models'
    if (name === 'cut' && !list) {
      asked.cut++
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"choices":[{"index":0,"delta":{"content":"he"}}]}\n\n', () => response.destroy())
      return
    }
    const status = list ? 200 : fails(++asked[name]) ? 500 : 200
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(list ? { object: 'list', data: [] } : { choices: [] }))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function call(key: string, model: string): Promise<number> {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${key}`],
    ['content-type', 'application/json'],
  ]
  const body = JSON.stringify({ model, stream: model === 'broken', messages: [] })
  return (await send(`${gateway.baseUrl}/v1/chat/completions`, { headers, body })).status
}

async function json<Answer>(...args: string[]): Promise<Answer> {
  const { stdout } = await gateway.spgw([...args, '--json'])
  return JSON.parse(stdout) as Answer
}

const only = ({ tried, failed, fell_back }: Figures): Figures => ({ tried, failed, fell_back })
const addUp = (one: Figures, other: Figures): Figures => ({
  tried: one.tried + other.tried,
  failed: one.failed + other.failed,
  fell_back: one.fell_back + other.fell_back,
})
const byName = <Row>(rows: readonly Row[], nameOf: (row: Row) => string) =>
  Object.fromEntries(names.map((name) => [name, rows.find((row) => nameOf(row) === name)]))

/** `spgw_attempts_total`, summed up by provider. */
async function readMetrics(): Promise<{ figures: Record<string, Figures>; states: Record<string, string> }> {
  const text = await (await fetch(`${gateway.consoleUrl}/metrics`)).text()
  const figures: Record<string, Figures> = Object.fromEntries(
    names.map((name) => [name, { tried: 0, failed: 0, fell_back: 0 }]),
  )
  for (const [, provider = '', outcome = '', count = ''] of text.matchAll(
    /^spgw_attempts_total\{provider="(\w+)",model="[^"]*",outcome="(\w+)"\} (\d+)$/gm,
  )) {
    const sum = figures[provider]
    if (sum === undefined) continue
    sum.tried += Number(count)
    if (outcome === 'failed' || outcome === 'fell_back') sum.failed += Number(count)
    if (outcome === 'fell_back') sum.fell_back += Number(count)
  }
  const states = Object.fromEntries(
    [...text.matchAll(/^spgw_provider_ready\{provider="(\w+)",kind="\w+",state="(\w+)"\} \d$/gm)].map(
      ([, name = '', state = '']) => [name, state],
    ),
  )
  return { figures, states }
}

type Shown = { name: string; state: string; last_hour: Figures & { requests: number; errors: number } }

it('with a dead, a half-dead, a healthy and a cut-off provider every surface gives the same figures', async () => {
  const trafficOf = (model: string) => json<(Figures & { provider: string })[]>('routes', 'traffic', model)
  const traffic = [...(await trafficOf('any')), ...(await trafficOf('broken'))]
  const ofRoute = byName(traffic, ({ provider }) => provider)
  expected = Object.fromEntries(names.map((name) => [name, only(ofRoute[name] ?? failTest())]))
  const { dead = failTest(), half = failTest(), healthy = failTest(), cut } = expected
  expect(dead.tried).toBeGreaterThanOrEqual(5)
  expect(dead).toEqual({ tried: dead.tried, failed: dead.tried, fell_back: dead.tried })
  expect(half).toEqual({ tried: asked.half, failed: Math.ceil(asked.half / 2), fell_back: Math.ceil(asked.half / 2) })
  expect(healthy).toEqual({ tried: asked.healthy, failed: 0, fell_back: 0 })
  expect(cut).toEqual({ tried: brokenOff, failed: brokenOff, fell_back: 0 })

  const listed = async () => byName(await json<Shown[]>('providers', 'list'), ({ name }) => name)
  // A reading of a moment ago may still be good.
  await expect.poll(async () => (await listed()).healthy?.last_hour.tried, { timeout: 30_000 }).toBe(healthy.tried)
  const list = await listed()
  for (const name of names) {
    const shown = await gateway.admin.providers.show({ name })
    expect({ name, ...only(shown.last_hour) }).toEqual({ name, ...expected[name] })
    const { requests, errors } = shown.last_hour
    expect([requests, errors]).toEqual([expected[name]?.tried, expected[name]?.failed])
    expect(list[name]?.last_hour).toEqual(shown.last_hour)
  }
  expect((await readMetrics()).figures).toEqual(expected)
  const series = await gateway.admin.providers.attempts({})
  for (const name of names) {
    const points = series.providers.find(({ provider }) => provider === name)?.points ?? []
    expect({ name, ...only(points.map(only).reduce(addUp, { tried: 0, failed: 0, fell_back: 0 })) }).toEqual({
      name,
      ...expected[name],
    })
  }
  // Requests are counted as requests: those of the first route were all answered, those of the second broke off.
  expect(await gateway.admin.requests.stats({})).toMatchObject([{ requests: answered + brokenOff, errors: brokenOff }])
  expect(await json('status')).toMatchObject({ requests_since_start: answered + brokenOff })
  const metrics = await (await fetch(`${gateway.consoleUrl}/metrics`)).text()
  expect(metrics).toMatch(new RegExp(`^spgw_requests_total ${answered + brokenOff}$`, 'm'))
  const failedAt = async (name: Name) => (await gateway.admin.requests.list({ failedAt: name, limit: 100 })).length
  expect(await failedAt('dead')).toBe(dead.failed)
  expect(await failedAt('half')).toBe(half.failed)
  expect(await failedAt('healthy')).toBe(0)
})

const readStates = async () => {
  const list = byName(await json<Shown[]>('providers', 'list'), ({ name }) => name)
  return Object.fromEntries(names.map((name) => [name, list[name]?.state]))
}

/** What each surface says; once more where a provider was looked at again meanwhile, which may be another state. */
async function readSurfaces() {
  for (;;) {
    const states = await readStates()
    const metrics = (await readMetrics()).states
    const ready = (await (await fetch(`${gateway.baseUrl}/readyz`)).json()) as { providers: Record<string, string> }
    const status = await json<{ providers: Record<string, number> }>('status')
    const route = await gateway.admin.routes.show({ model: 'any' })
    const shown = await Promise.all(inOneRoute.map((name) => gateway.admin.providers.show({ name })))
    const { stdout: doctor } = await gateway.spgw(['doctor'])
    if (isDeepStrictEqual(await readStates(), states))
      return { states, metrics, ready: ready.providers, status: status.providers, route, shown, doctor }
  }
}

it('every surface tells the same states', async () => {
  const { states, metrics, ready, status, route, shown, doctor } = await readSurfaces()
  expect(['failing', 'recovering']).toContain(states.dead)
  expect(states).toMatchObject({ half: 'ready', healthy: 'ready' })
  expect(metrics).toEqual(states)
  expect(ready).toEqual(states)
  const counted = { unchecked: 0, ready: 0, failing: 0, recovering: 0, inactive: 0 }
  for (const state of Object.values(states) as (keyof typeof counted)[]) counted[state]++
  expect(status).toEqual(counted)
  for (const [index, name] of inOneRoute.entries()) {
    const target = route.targets.find(({ provider }) => provider === name)
    const state = target?.state
    expect(shown[index]?.targets).toMatchObject([{ provider: name, upstream_model: `${name}-model`, state }])
  }
  const said = (name: Name) => `${expected[name]?.failed} of ${expected[name]?.tried} attempts failed in the last hour`
  expect(doctor).toMatch(new RegExp(`dead is (failing|recovering): .*; ${said('dead')}`))
  expect(doctor).toContain(`half is ready; ${said('half')}`)
  expect(doctor).not.toMatch(/(half|healthy) is (failing|recovering)/)
})

/** As the terminal and the browser write it. */
const counted = (name: Name) => `${expected[name]?.failed} of ${expected[name]?.tried} attempts failed`

it.skipIf(!hasProgram('tmux'))('the terminal interface shows these figures (needs tmux)', async () => {
  const pane = await Pane.open({ columns: 140, rows: 50 })
  try {
    await pane.run(`${gatewayCommand().command} tui --data-dir ${gateway.dataDirectory}`)
    const row = (name: Name) =>
      new RegExp(`${name} .* ${expected[name]?.tried} tried +${expected[name]?.failed}(?: |$)`, 'm')
    await pane.see('Needs attention', `dead: ${counted('dead')}`, `half: ${counted('half')}`, ...names.map(row))
    await pane.press('2')
    await pane.see('[2 Providers]', ...names.map(row))
    await pane.press('/')
    await pane.type('half')
    await pane.press('Enter', 'Enter')
    const { tried = 0, failed = 0 } = expected.half ?? {}
    await pane.see('half', `${tried} attempts`, `${failed} failed (`)
    await pane.press('3')
    await pane.see('[3 Routing]', '▸ any')
    await pane.press('Enter')
    const ofTarget = (name: Name) => {
      const { tried = 0, failed = 0 } = expected[name] ?? {}
      const until = '(?:(?!-model)[^])*?'
      return new RegExp(`${name}-model${until} ${tried} attempts?${until}${failed === 0 ? 'none' : failed} failed`)
    }
    await pane.see(...inOneRoute.map(ofTarget))
  } finally {
    await pane.close()
  }
})

it.skipIf(!hasBrowser)('the console shows these figures (needs chromium)', async () => {
  const browser = await openBrowser()
  try {
    const page = await openPage(browser)
    await signIn(page, gateway)
    const attention = page.getByRole('region', { name: 'Needs attention' })
    for (const name of ['dead', 'half'] as const)
      await attention.getByText(`${name}: ${counted(name)} in the last hour`).waitFor()
    expect(await attention.getByText('healthy: ').count()).toBe(0)
    const figure = (text: RegExp) => page.getByRole('main').getByRole('listitem').filter({ hasText: text })
    await figure(new RegExp(`^Requests\\s*${answered + brokenOff}\\s*View`)).waitFor()
    await figure(new RegExp(`^Errors.*%\\s*${brokenOff} requests$`)).waitFor()
    await page.goto(`${gateway.consoleUrl}/providers`)
    for (const name of names) {
      const { tried = 0, failed = 0 } = expected[name] ?? {}
      await page
        .getByRole('img', { name: `Attempts at ${name} in the last hour: ${tried} attempts, ${failed} failed` })
        .waitFor()
    }
    for (const name of ['dead', 'half', 'cut'] as const) {
      await page.goto(`${gateway.consoleUrl}/providers/${name}`)
      await page.getByText(counted(name)).waitFor()
    }
    await page.goto(`${gateway.consoleUrl}/routing/any`)
    for (const name of ['dead', 'half'] as const)
      await page.getByText(`${expected[name]?.tried} tried, ${expected[name]?.failed} failed`).waitFor()
    expect(page.faults()).toEqual([])
  } finally {
    await browser.close()
  }
})

function failTest(): never {
  throw new Error('a provider is missing')
}
