import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LaneName, laneNames } from '../../src/core/lane.ts'
import type { ObjectType } from '../../src/core/objects/stored-object.ts'
import type { Endpoint, Lane, Match } from '../../src/lanes/contract.ts'
import { findLane } from '../../src/lanes/index.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type Arrival, type ObjectUpstream, startObjectUpstream } from '../support/object-upstream.ts'
import { inBody } from './object-references.ts'

/** Two projects on one provider configuration of two credentials; everything lives at the second credential of each. */
let directory: string
let upstream: ObjectUpstream
let gateway: TestGateway
const keys = { owner: '', other: '' }

const lanes: Record<LaneName, Lane> = {
  openai: findLane('/v1')!,
  anthropic: findLane('/v1/anthropic')!,
  gemini: findLane('/v1/gemini')!,
}

interface Row {
  lane: LaneName
  endpoint: Endpoint
  path: string
  match: Match
}

const ownId = (type: ObjectType) => `own-${type.replaceAll('_', '-')}`

/** Every row of every lane that has to do with objects. */
const rows: Row[] = laneNames.flatMap((lane) =>
  lanes[lane].endpoints
    .filter(({ object, served }) => object !== null && served === 'provider')
    .map((endpoint) => {
      const path = endpoint.path
        .replace('{object}', ownId(endpoint.object!.type))
        .replace('{version}', 'v1beta')
        .replace('{model}', lane === 'gemini' ? 'models/m' : 'm')
        .replaceAll(/\{\w+\}/g, 'part')
      const match = lanes[lane].match(endpoint.method, path)
      if (match === null) throw new Error(`${endpoint.method} ${path} is in no table`)
      return { lane, endpoint, path, match }
    }),
)
const naming = rows.filter(({ match }) => match.object !== null)
const listing = rows.filter(({ endpoint }) => endpoint.object!.effect === 'list')

const credentials: Record<LaneName, [string, string]> = {
  openai: ['sk-account-that-is-first-0001', 'sk-account-that-is-second-0002'],
  anthropic: ['sk-ant-account-that-is-first-0001', 'sk-ant-account-that-is-second-0002'],
  gemini: ['AIza-account-that-is-first-0001', 'AIza-account-that-is-second-0002'],
}

async function start(): Promise<void> {
  // What is not allowed is refused before anybody asks whose an object is.
  gateway = await startGateway({ dataDirectory: directory, environment: { SPGW_GATEWAY_WEBRTC: 'allow' } })
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'spgw-objects-'))
  upstream = await startObjectUpstream()
  await start()
  const { admin } = gateway
  for (const lane of laneNames) {
    const [credential, second] = credentials[lane]
    await admin.providers.add({ name: lane, kind: lane, baseUrl: upstream.baseUrl, credential, skipCheck: true })
    await admin.providers.credentials.add({ name: lane, credential: second, skipCheck: true })
    await gateway.addRoute(`${lane}-*`, [lane])
  }
  await admin.projects.add({ name: 'other' })
  await admin.environments.add({ name: 'production', project: 'other' })
  for (const lane of laneNames) await admin.routes.add({ model: `${lane}-*`, targets: [lane], project: 'other' })
  keys.owner = (await gateway.createKey('owner')).key
  keys.other = (await gateway.createKey('other', { project: 'other' })).key
  const names = new Map<string, { lane: LaneName; type: ObjectType; id: string }>()
  for (const { lane, endpoint, match } of naming) {
    const type = endpoint.object!.type
    names.set(`${lane} ${type} ${match.object}`, { lane, type, id: match.object! })
  }
  for (const { lane, types } of inBody)
    for (const [type, id] of types) names.set(`${lane} ${type} ${id}`, { lane, type, id })
  const adopt = ({ lane, type, id }: { lane: LaneName; type: ObjectType; id: string }) =>
    admin.objects.adopt({ name: id, type, provider: lane, credential: credentials[lane][1].slice(-4) })
  await Promise.all([...names.values()].map(adopt))
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
  await rm(directory, { recursive: true, force: true })
})

interface Ask {
  key: string
  method: string
  path: string
  body?: string
  type?: string
}

/** A WebSocket's handshake; what it is refused with. */
async function shakeHands(key: string, path: string): Promise<Response> {
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const headers = { ...upgrade, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', authorization: `Bearer ${key}` }
  const asked = request(`${gateway.baseUrl}${path}`, { headers }).end()
  const [answer]: IncomingMessage[] = await Promise.race([once(asked, 'response'), once(asked, 'upgrade')])
  if (answer === undefined) throw new Error('no answer')
  const chunks = await answer.toArray()
  const code = String(answer.headers['x-sp-error'])
  return new Response(Buffer.concat(chunks), { status: answer.statusCode ?? 0, headers: { 'x-sp-error': code } })
}

/** As an SDK does: tried again when the gateway could not look something up in time. */
async function ask({ key, method, path, body, type }: Ask) {
  for (let tries = 1; ; tries++) {
    const headers = { authorization: `Bearer ${key}`, ...(type === undefined ? {} : { 'content-type': type }) }
    const whole = { method, headers, ...(body === undefined ? {} : { body }) }
    const answer = method === 'SOCKET' ? await shakeHands(key, path) : await fetch(`${gateway.baseUrl}${path}`, whole)
    const text = await answer.text()
    const code = answer.headers.get('x-sp-error')
    if (code === 'object_index_unavailable' && tries < 10) continue
    return { status: answer.status, text, code }
  }
}

const form = 'multipart/form-data; boundary=b'
const multipart = '--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nassistants\r\n--b--\r\n'

function askRow(key: string, { lane, endpoint, path }: Row, change: (path: string) => string = (same) => same) {
  const whole = `${lanes[lane].prefix}${change(path)}`
  const { method, requestForms } = endpoint
  if (requestForms.length === 0) return ask({ key, method, path: whole })
  if (requestForms.includes('json')) {
    const body = endpoint.model === 'body' ? JSON.stringify({ model: `${lane}-1` }) : '{}'
    return ask({ key, method, path: whole, body, type: 'application/json' })
  }
  if (requestForms.includes('multipart')) return ask({ key, method, path: whole, body: multipart, type: form })
  return ask({ key, method, path: whole, body: 'bytes', type: 'application/octet-stream' })
}

const title = ({ lane, endpoint }: Row) => `${lane} ${endpoint.method} ${endpoint.path}`

/** A provider's own words for an id that does not exist, whatever id it is. */
const withoutId = (text: string, id: string) => text.replaceAll(id, 'ID').replace(/req_\w+/g, 'REQUEST')

async function expectRefused(row: Row): Promise<void> {
  const foreign = await askRow(keys.other, row)
  expect([title(row), foreign.code]).toEqual([title(row), 'object_not_found'])
  const own = ownId(row.endpoint.object!.type)
  const unknown = await askRow(keys.owner, row, (path) => path.replace(own, 'no-such'))
  expect([title(row), unknown.code]).toEqual([title(row), 'object_not_found'])
  // Nobody learns from the answer whether somebody else has it.
  expect([foreign.status, withoutId(foreign.text, own)]).toEqual([unknown.status, withoutId(unknown.text, 'no-such')])
}

async function expectAllRefused(): Promise<void> {
  const arrived = upstream.arrivals.length
  await Promise.all(naming.map(expectRefused))
  await Promise.all(
    inBody.map(async ({ lane, path, body }) => {
      const text = JSON.stringify(body)
      const foreign = await ask({ key: keys.other, method: 'POST', path, body: text, type: 'application/json' })
      expect([lane, text, foreign.code]).toEqual([lane, text, 'object_not_found'])
    }),
  )
  expect(upstream.arrivals.slice(arrived)).toEqual([])
  for (const row of listing) expect(await listed(keys.other, row)).toEqual([])
}

/** Whatever it is asked, the upstream's lists hold what everybody on the account has. */
function answerLists(): void {
  upstream.answer = ({ method, target }) => {
    const row = listing.find(({ path }) => method === 'GET' && target.split('?')[0] === path)
    if (row === undefined) return { body: '{}' }
    const type = row.endpoint.object!.type
    const names = [
      ...new Set(
        naming
          .filter(({ lane, endpoint }) => lane === row.lane && endpoint.object!.type === type)
          .map(({ match }) => match.object!),
      ),
    ]
    const items = ['strange', ...names, 'of-others'].map((name) => ({ id: name, name }))
    const collection = row.path.split('/').at(-1) ?? ''
    return { body: JSON.stringify({ data: items, [collection]: items, operations: items, has_more: false }) }
  }
}

async function listed(key: string, row: Row): Promise<string[]> {
  const { text, status } = await askRow(key, row)
  expect([title(row), status]).toEqual([title(row), 200])
  const page = lanes[row.lane].objects.page(row.match, Buffer.from(text))
  if (page === null) throw new Error(`${title(row)}: ${text}`)
  return page.items.map(({ name }) => name.id)
}

function expectAtSecond(arrivals: readonly Arrival[], calls: readonly string[]): void {
  const seconds = Object.values(credentials).map(([, second]) => second)
  expect(arrivals.filter(({ credential }) => !seconds.includes(credential))).toEqual([])
  expect(arrivals.map(({ method, target }) => `${method} ${target}`).sort()).toEqual([...calls].sort())
}

describe('what one project made', () => {
  beforeAll(answerLists)

  it('is in every table that there is', () => {
    expect(naming.length).toBeGreaterThan(60)
    expect(listing.length).toBeGreaterThan(10)
  })

  it('reaches the very credential that holds it, by every path', async () => {
    // One that goes is there no more afterwards.
    const calls = naming.filter(({ endpoint }) => endpoint.method !== 'SOCKET')
    const kept = calls.filter(({ endpoint }) => endpoint.object!.effect !== 'delete')
    const arrived = upstream.arrivals.length
    await Promise.all(kept.map((row) => askRow(keys.owner, row)))
    expectAtSecond(
      upstream.arrivals.slice(arrived),
      kept.map(({ endpoint, path }) => `${endpoint.method} ${path}`),
    )
  })

  it('and by every reference in a body', async () => {
    const arrived = upstream.arrivals.length
    await Promise.all(
      inBody.map(({ path, body }) =>
        ask({ key: keys.owner, method: 'POST', path, body: JSON.stringify(body), type: 'application/json' }),
      ),
    )
    expectAtSecond(
      upstream.arrivals.slice(arrived),
      inBody.map(({ lane, path }) => `POST ${path.slice(lanes[lane].prefix.length)}`),
    )
  })

  it.each(listing.map((row) => [title(row), row] as const))('%s: is all that is listed', async (_, row) => {
    const own = naming.filter(
      ({ lane, endpoint }) => lane === row.lane && endpoint.object!.type === row.endpoint.object!.type,
    )
    const ids = new Set(own.map(({ match }) => match.object!))
    expect(new Set(await listed(keys.owner, row))).toEqual(ids)
  })

  it('is nobody else’s: every object, every verb, every reference, and no list shows it', expectAllRefused)

  it('is so after a restart', async () => {
    await gateway.stop()
    await start()
    await expectAllRefused()
  })

  it('is so after a kill -9', async () => {
    await gateway.kill('SIGKILL')
    await start()
    await expectAllRefused()
  })
})
