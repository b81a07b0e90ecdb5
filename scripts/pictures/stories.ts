import { setTimeout as wait } from 'node:timers/promises'
import type { Page } from '../../test/support/browser.ts'
import type { TestGateway } from '../../test/support/gateway.ts'
import type { Places } from './places.ts'

const nowhere = { baseUrl: 'http://127.0.0.1:9/v1', credential: 'sk-none-0000000000', skipCheck: true }

/** Things of each kind, made as an operator makes them, and so many requests, answered by the demo provider. */
export async function makeHistory(gateway: TestGateway, requests: number, pauseMs = 0): Promise<Places> {
  const { admin } = gateway
  await admin.projects.add({ name: 'search' })
  await admin.environments.add({ name: 'staging', project: 'search' })
  await admin.providers.add({ name: 'demo', kind: 'demo' })
  await admin.providers.add({ name: 'standby', kind: 'demo', tags: { region: 'eu' } })
  await admin.providers.add({ name: 'openai', kind: 'openai', ...nowhere })
  await gateway.addRoute('demo*', ['demo'])
  await gateway.addRoute('assistant', ['demo:demo-error-429', 'standby:demo-large'])
  await gateway.addRoute('gpt-4o*', ['openai', 'standby:demo'])
  await gateway.addRoute('demo', ['standby'], { project: 'search', environment: 'staging' })
  await admin.policies.add({
    name: 'small-models',
    denyModels: ['o1*', 'gpt-4*'],
    maxBody: '1MB',
    attach: ['project:search'],
  })
  await admin.prices.set({ model: 'demo-large', provider: 'demo', input: 2.5, output: 10 })
  // Of all sizes, so that what has no room for one shows.
  await admin.prices.set({ model: 'demo', provider: 'standby', input: 0.00002, output: 0.00002 })
  await admin.prices.set({ model: 'house-model', input: 0.000003, cacheRead: 0.0002, output: 1234.5 })
  await admin.policies.add({ name: 'team', budgetUsdMonth: 5, rpm: 6000, attach: ['project:default'] })
  await admin.policies.add({ name: 'fair', per: 'key', budgetTokensDay: 50_000, attach: ['workspace'] })
  await admin.policies.grant({ name: 'team', usd: 2.5, until: '7d' })
  const keys = {
    web: (await gateway.createKey('web', { tags: { team: 'product' } })).key,
    batch: (await gateway.createKey('batch', { tags: { team: 'data' }, expires: '30d' })).key,
    search: (await gateway.createKey('search', { project: 'search', environment: 'staging' })).key,
  }
  const old = await gateway.createKey('old-ci')
  await admin.keys.revoke({ key: old.id })
  await admin.operators.add({ name: 'anna', role: 'admin', displayName: 'Anna Example' })
  await admin.tokens.create({ name: 'deploy' })
  await admin.alerts.add({ name: 'on-call', url: 'http://127.0.0.1:9/hook' })
  return await sendAll(gateway, keys, requests, pauseMs)
}

async function sendAll(
  gateway: TestGateway,
  keys: Record<string, string>,
  requests: number,
  pauseMs: number,
): Promise<Places> {
  const models = [
    'demo',
    'demo-large',
    'assistant',
    'demo',
    'demo-large',
    'demo',
    'gpt-4o',
    'demo-large',
    'demo',
    'demo-cut',
  ]
  const [web = '', batch = '', search = ''] = Object.values(keys)
  const places: Places = {}
  for (let count = 0; count < requests; count++) {
    const model = models[count % models.length] ?? 'demo'
    // Busier now and then, as traffic is.
    if (pauseMs > 0) await wait(pauseMs * (1 + 0.8 * Math.sin(count / 9)))
    const id = await send(gateway, count % 3 === 0 ? batch : web, model, count % 2 === 0)
    if (model === 'demo-large') places.request = id
    if (model === 'assistant') places.fallback = id
  }
  await send(gateway, search, 'demo', false)
  places.refused = await send(gateway, search, 'gpt-4o', false)
  await send(gateway, web, 'nothing-like-it', false)
  const { admin } = gateway
  const route = (await admin.routes.list({})).find(({ model }) => model === 'assistant')
  const key = (await admin.keys.list({})).find(({ name }) => name === 'web')
  return { ...places, provider: 'demo', ...(route && { route: route.id }), ...(key && { key: key.id }) }
}

async function send({ baseUrl }: TestGateway, key: string, model: string, stream: boolean): Promise<string> {
  const answer = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-sp-tags': 'team=product' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'What is a gateway for?' }] }),
  })
  await answer.text().catch(() => '')
  return answer.headers.get('x-sp-request-id') ?? ''
}

/** What a gateway that was filled has pages of its own for. */
export async function shrunk({ admin }: TestGateway): Promise<Places> {
  const [route, key, newest] = await Promise.all([
    admin.routes.list({}),
    admin.keys.list({}),
    admin.requests.list({ limit: 500 }),
  ])
  const fallback = newest.find(({ attempts }) => attempts.length > 1)
  return {
    provider: 'openai',
    ...(route[0] && { route: route[0].id }),
    ...(key[0] && { key: key[0].id }),
    ...(newest[0] && { request: newest[0].id }),
    ...(fallback && { fallback: fallback.id }),
  }
}

/** Signs in as somebody who may look at one project, and do nothing. */
export async function addViewer(page: Page, gateway: TestGateway): Promise<void> {
  await gateway.admin.operators.add({ name: 'vera', role: 'viewer', projects: ['default'] })
  await enterAs(page, gateway, 'vera')
}

/** Signs in as an operator that there is. */
export async function enterAs(page: Page, gateway: TestGateway, operator: string): Promise<void> {
  const { url } = await gateway.admin.console.link({ operator })
  await page.goto(url)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
}
