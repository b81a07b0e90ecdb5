import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { type Act, type FaultRow, faultTable } from '../support/shows/faults.ts'
import { isWhole } from '../support/shows/is-whole.ts'

/** What each fault does to the provider as such and to the model: as an operator sees it, and without a call that costs something. */

let provider: http.Server
let origin: string
let gateway: TestGateway
let key: string
let act: Act
/** Calls that cost something. */
let paid = 0

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    await request.resume().toArray()
    if (request.method === 'GET') {
      // The check of a credential is free, and finds nothing wrong.
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ object: 'list', data: [{ id: 'm', object: 'model' }], has_more: false }))
    }
    paid++
    act(response)
  })
  origin = await listen(provider)
  gateway = await startGateway({ config: 'gateway:\n  timeouts:\n    first_byte: 400ms\n' })
  key = (await gateway.createKey('caller')).key
})

afterAll(async () => {
  await gateway.stop()
  provider.closeAllConnections()
  provider.close()
})

/** How `providers show` says what the data plane has; what is limited is no trouble. */
const shown = { ready: 'ready', limited: 'ready', open: 'failing', 'cooling-down': 'failing' } as const
const shownAs = (state: string) => Object.entries(shown).find(([name]) => name === state)?.[1]

async function call(model: string, row: FaultRow): Promise<{ status: number; id: string }> {
  const path = row.kind === 'anthropic' ? '/anthropic/v1/messages' : '/chat/completions'
  const answer = await fetch(`${gateway.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: 9, messages: [], stream: row.streamed === true }),
  })
  await answer.text().catch(() => {})
  return { status: answer.status, id: answer.headers.get('x-sp-request-id') ?? '' }
}

async function expectStates(name: string, [wantedProvider, wantedTarget]: FaultRow['first']): Promise<void> {
  const states = async () => {
    const { state, targets } = await gateway.admin.providers.show({ name })
    const explained = JSON.stringify(await gateway.admin.routes.explain({ model: `${name}-model` }))
    return [state, targets[0]?.state, explained.includes('rate limited for another')]
  }
  const wanted = [shownAs(wantedProvider), shownAs(wantedTarget), wantedTarget === 'limited']
  await expect.poll(states).toEqual(wanted)
}

/** Those that show one way each in which a target may fare. */
const sample = ['429 with retry-after', '500', 'a reset', 'an error in the midst of the stream', '400']
const rows = faultTable.filter(({ fault }) => isWhole || sample.includes(fault))

describe('what a fault does to provider and target', () => {
  it.each(rows.map((row, at) => ({ ...row, name: `p${at}` })))('$fault', async (row) => {
    const { name } = row
    const kind = row.kind ?? 'openai'
    const baseUrl = kind === 'openai' ? `${origin}/v1` : origin
    await gateway.admin.providers.add({ name, kind, baseUrl, credential: `sk-${name}-shown` })
    await gateway.addRoute(`${name}-model`, [name])
    act = row.act
    paid = 0
    const first = await call(`${name}-model`, row)
    expect(first.status).toBe(row.seen)
    await expectStates(name, row.first)
    const ids = [first.id]
    for (let count = 1; count < row.calls; count++) ids.push((await call(`${name}-model`, row)).id)
    await expectStates(name, row.last)
    const records = await Promise.all(ids.map((id) => gateway.record(id)))
    expect(paid).toBe(records.reduce((sum, { attempts }) => sum + attempts.length, 0))
  })
})
