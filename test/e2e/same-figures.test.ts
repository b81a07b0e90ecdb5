import http from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { send } from '../support/raw-http.ts'

const names = ['dead', 'half', 'healthy'] as const
type Name = (typeof names)[number]
interface Figures {
  tried: number
  failed: number
  fell_back: number
}

let gateway: TestGateway
const servers: http.Server[] = []
/** What each provider was asked for, and what of it failed, as it knows itself. */
const asked: Record<Name, number> = { dead: 0, half: 0, healthy: 0 }

beforeAll(async () => {
  gateway = await startGateway()
  const addresses: Record<Name, string> = {
    dead: `http://127.0.0.1:${await closedPort()}/v1`,
    half: await listen('half', (count) => count % 2 === 1),
    healthy: await listen('healthy', () => false),
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
    names.map((name) => `${name}:${name}-model`),
    { retries: 0 },
  )
  const keys = await Promise.all(['one', 'two'].map(async (name) => (await gateway.createKey(name)).key))
  for (let count = 0; count < 40; count++) expect(await call(keys[count % 2] ?? '')).toBe(200)
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
    const status = list ? 200 : fails(++asked[name]) ? 500 : 200
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(list ? { object: 'list', data: [] } : { choices: [] }))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

async function call(key: string): Promise<number> {
  const headers: [string, string][] = [
    ['authorization', `Bearer ${key}`],
    ['content-type', 'application/json'],
  ]
  const body = JSON.stringify({ model: 'any', messages: [] })
  return (await send(`${gateway.baseUrl}/v1/chat/completions`, { headers, body })).status
}

async function json<Answer>(...args: string[]): Promise<Answer> {
  const { stdout } = await gateway.spgw([...args, '--json'])
  return JSON.parse(stdout) as Answer
}

const only = ({ tried, failed, fell_back }: Figures): Figures => ({ tried, failed, fell_back })
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

it('with a dead, a half-dead and a healthy provider every surface gives the same figures', async () => {
  const traffic = await json<(Figures & { provider: string })[]>('routes', 'traffic', 'any')
  const ofRoute = byName(traffic, ({ provider }) => provider)
  const expected = Object.fromEntries(names.map((name) => [name, only(ofRoute[name] ?? failTest())]))
  const { dead = failTest(), half = failTest(), healthy = failTest() } = expected
  expect(dead.tried).toBeGreaterThanOrEqual(5)
  expect(dead).toEqual({ tried: dead.tried, failed: dead.tried, fell_back: dead.tried })
  expect(half).toEqual({ tried: asked.half, failed: Math.ceil(asked.half / 2), fell_back: Math.ceil(asked.half / 2) })
  expect(healthy).toEqual({ tried: asked.healthy, failed: 0, fell_back: 0 })

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
  // Requests are counted as requests: every one of them was answered.
  expect(await gateway.admin.requests.stats({})).toMatchObject([{ requests: 40, errors: 0 }])
})

it('every surface tells the same states', async () => {
  const list = byName(await json<Shown[]>('providers', 'list'), ({ name }) => name)
  const states = Object.fromEntries(names.map((name) => [name, list[name]?.state]))
  expect(['failing', 'recovering']).toContain(states.dead)
  expect(states).toMatchObject({ half: 'ready', healthy: 'ready' })
  expect((await readMetrics()).states).toEqual(states)
  const ready = (await (await fetch(`${gateway.baseUrl}/readyz`)).json()) as { providers: Record<string, string> }
  expect(ready.providers).toEqual(states)
  const { providers } = await json<{ providers: Record<string, number> }>('status')
  const counted = { unchecked: 0, ready: 0, failing: 0, recovering: 0, inactive: 0 }
  for (const state of Object.values(states) as (keyof typeof counted)[]) counted[state]++
  expect(providers).toEqual(counted)
  const route = await gateway.admin.routes.show({ model: 'any' })
  for (const name of names) {
    const { targets } = await gateway.admin.providers.show({ name })
    const target = route.targets.find(({ provider }) => provider === name)
    expect(targets).toMatchObject([{ provider: name, upstream_model: `${name}-model`, state: target?.state }])
  }
  const { stdout } = await gateway.spgw(['doctor'])
  expect(stdout).toMatch(/dead is (failing|recovering)/)
  expect(stdout).not.toMatch(/(half|healthy) is (failing|recovering)/)
})

function failTest(): never {
  throw new Error('a provider is missing')
}
