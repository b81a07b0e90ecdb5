import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'

/**
 * A data directory as the executable of 0.1.0 left it when it was killed (`kill -9`) in the midst of a stream: with two
 * projects, keys, a sealed credential, policies, an operator, a token, records and captured bodies. Whoever releases a
 * version adds one of that version.
 */
const made = join(import.meta.dirname, '../fixtures/upgrade/0.1.0.tar.gz')
const key = 'sp_live_NmDkp5A3n6bsgKUnUAqU3kLjTIaxuVIQvX6UOvOTWiZ4Aou1U'
const revoked = 'sp_live_Gvoi02ogKoSqKDRaa3bGU1u3M8UX30mc91XfmWqJWSg2DV2D5'
const token = 'spt_U0cri0x2EOdo0Hs9yeGSaLl2A27cDQdG5xwkWABe6cy2zB10T'
/** As that version stored them. */
const headers = { 'x-gateway-token': 'canary-77', 'x-title': 'Our app' }
/** The records are of the day on which they were made, however long ago that is. */
const environment = { SPGW_RECORDS_RETENTION: '36500d', SPGW_RECORDS_BODIES_RETENTION: '36500d' }

let dataDirectory: string
let gateway: TestGateway

beforeAll(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'spgw-upgrade-'))
  execFileSync('tar', ['-xzf', made, '-C', dataDirectory])
  const database = new DatabaseSync(join(dataDirectory, 'spgw.db'))
  database.exec(`update provider_revisions set headers_json = '${JSON.stringify(headers)}'`)
  database.close()
  gateway = await startGateway({ dataDirectory, environment })
})

afterAll(async () => {
  await gateway.stop()
  rmSync(dataDirectory, { recursive: true, force: true })
})

const ask = (secret: string, model = 'demo') =>
  fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  })

describe('a data directory of 0.1.0', () => {
  it('is upgraded, and a copy of its database is kept', async () => {
    await gateway.said('the database was upgraded')
    const [, copy = ''] = /"copy":"([^"]+)"/.exec(gateway.stderr()) ?? []
    expect(copy).toContain(`${dataDirectory}/spgw.db.before-v`)
    expect(existsSync(copy)).toBe(true)
    expect(await gateway.admin.status({})).toMatchObject({ degraded: [], set_aside: [], entries_lost: 0 })
  })

  it('keeps its configuration, and opens what it sealed', async () => {
    const { admin } = gateway
    const staging = { project: 'search', environment: 'staging' }
    expect((await admin.projects.list({})).map(({ name }) => name)).toEqual(['default', 'search'])
    expect((await admin.operators.list({})).map(({ name, roles }) => [name, roles])).toEqual([['anna', ['admin']]])
    expect(await admin.routes.show({ model: 'fast*' })).toMatchObject({
      strategy: 'weighted',
      targets: [
        { provider: 'openai', upstream_model: 'gpt-4o-mini', weight: 0 },
        { provider: 'demo', weight: 1 },
      ],
    })
    expect(await admin.routes.show({ ...staging, model: 'gpt-4o-mini' })).toMatchObject({
      enabled: false,
      timeouts: { first_byte_ms: 20_000 },
    })
    expect(await admin.policies.show({ name: 'small' })).toMatchObject({ attached_to: ['project:default'] })
    expect(await admin.seal.status({})).toMatchObject({ broken: [] })
    expect((await gateway.spgw(['audit', 'verify'])).code).toBe(0)
  })

  it('has the headers of its providers sealed, where they may be secret', async () => {
    const shown = await gateway.admin.providers.show({ name: 'openai' })
    expect(shown.headers).toEqual({ 'x-gateway-token': '…', 'x-title': 'Our app' })
    const database = new DatabaseSync(join(dataDirectory, 'spgw.db'), { readOnly: true })
    const rows = database.prepare('select headers_json from provider_revisions').all()
    database.close()
    expect(rows.length).toBeGreaterThan(0)
    for (const { headers_json } of rows) {
      expect(String(headers_json)).not.toContain('canary-77')
      expect(String(headers_json)).toContain('…sp1.')
    }
  })

  it('has its records, that of the stream which was cut too, and their bodies', async () => {
    const records = await gateway.admin.requests.list({})
    expect(records.map(({ model, state, status }) => [model, state, status])).toEqual([
      ['demo-slow', 'interrupted', null],
      ['demo-large', 'settled', 403],
      ['demo-error-429', 'settled', 429],
      ['demo', 'settled', 200],
      ['demo', 'settled', 200],
    ])
    const shown = await gateway.spgw(['requests', 'show', records.at(-1)!.id, '--bodies'])
    expect(shown.stdout).toContain('the secret word is mellon')
    const sums = await gateway.admin.requests.stats({})
    expect(sums).toMatchObject([{ requests: 5, errors: 2, interrupted: 1, output: 34 }])
  })

  it('knows its keys and tokens', async () => {
    expect((await ask(key)).status).toBe(200)
    expect((await ask(revoked)).status).toBe(401)
    expect((await ask(key, 'demo-large')).status).toBe(403)
    const call = { method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } }
    expect((await fetch(`${gateway.consoleUrl}/api/keys/list`, { ...call, body: '{}' })).status).toBe(200)
  })
})
