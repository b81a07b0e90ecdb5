import { expect } from 'vitest'
import { startGateway, type TestGateway } from './gateway.ts'
import { type ObjectUpstream, type Reply, startObjectUpstream } from './object-upstream.ts'

export const nanoPerUsd = 1e9
/** Of the policy with the stage's budget. */
export const budgetPolicy = 'month'

export const shows = (value: object): Reply => ({ body: JSON.stringify(value) })
/** What the input of such a body is held at, by its length. */
export const inputOf = (body: object) => Math.ceil(JSON.stringify(body).length / 4) * 2000

export interface BudgetStage {
  gateway: TestGateway
  upstream: ObjectUpstream
  key: string
  ask(method: string, path: string, reply: Reply, body?: object): Promise<Response>
  usage(): Promise<{ used: number; held: number }>
  /** The counter, which follows the store, and the records. */
  comesTo(wanted: { used: number; held: number }): Promise<void>
  close(): Promise<void>
}

/** A gateway with a budget of a dollar a month, whose models cost 2 and 10 dollars a million tokens. */
export async function setBudgetStage(): Promise<BudgetStage> {
  const upstream = await startObjectUpstream()
  const gateway = await startGateway()
  const { admin } = gateway
  const credentials = { openai: 'sk-work-0001', gemini: 'AIza-work-0001' }
  for (const [kind, credential] of Object.entries(credentials))
    await admin.providers.add({ name: kind, kind, baseUrl: upstream.baseUrl, credential, skipCheck: true })
  await gateway.addRoute('gpt-a', ['openai'])
  await gateway.addRoute('gemini-a', ['gemini'])
  for (const model of ['gpt-a', 'gemini-a']) await admin.prices.set({ model, input: 2, output: 10 })
  await admin.policies.add({ name: budgetPolicy, budgetUsdMonth: 1, attach: ['workspace'] })
  const { key } = await gateway.createKey('maker')

  /** Again where a busy machine kept the index of objects from answering in time, as the SDKs do. */
  async function ask(method: string, path: string, reply: Reply, body?: object, tries = 20): Promise<Response> {
    upstream.answer = () => reply
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await fetch(`${gateway.baseUrl}/v1${path}`, sent)
    if (tries === 0 || response.headers.get('x-sp-error') !== 'object_index_unavailable') return response
    await response.text()
    return await ask(method, path, reply, body, tries - 1)
  }

  async function usage() {
    await gateway.admin.requests.list({ limit: 1 })
    const [found] = await gateway.admin.policies.usage({ name: budgetPolicy })
    const [period] = found?.periods ?? []
    const show = (usd: number | null | undefined) => Math.round((usd ?? Number.NaN) * nanoPerUsd)
    return { used: show(period?.used), held: show(period?.held) }
  }

  async function comesTo(wanted: { used: number; held: number }): Promise<void> {
    await expect.poll(usage, { timeout: 20_000 }).toEqual(wanted)
    const records = await gateway.admin.requests.list({ limit: 1000 })
    expect(records.reduce((sum, { cost }) => sum + Math.round((cost?.usd ?? 0) * nanoPerUsd), 0)).toBe(wanted.used)
  }

  const close = async () => {
    await gateway.stop()
    await upstream.close()
  }
  return { gateway, upstream, key, ask, usage, comesTo, close }
}
