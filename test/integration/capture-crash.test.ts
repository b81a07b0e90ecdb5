import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { FaultPoint } from '../../src/core/fault-point.ts'
import { startGateway } from '../support/gateway.ts'

const body = JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Is it kept?' }] })
let dataDirectory: string

beforeEach(() => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'capture-'))
})
afterEach(() => rmSync(dataDirectory, { recursive: true, force: true }))

/**
 * Where the gateway is killed with SIGKILL, and what the record is afterwards. A settled one has both its bodies; of an
 * interrupted one, what stood in the journal by then.
 */
it.each<[FaultPoint, 'settled' | 'interrupted']>([
  ['journal.before-settled', 'interrupted'],
  ['journal.after-settled', 'settled'],
])('killed at %s, the bodies of a request that is %s are kept', async (point, state) => {
  const first = await startGateway({ dataDirectory, environment: { SPGW_FAULT_POINT: point } })
  await first.admin.providers.add({ name: 'demo', kind: 'demo' })
  await first.addRoute('demo', ['demo'])
  const { key } = await first.createKey('ci')
  await first.admin.policies.add({ name: 'all', capture: 'full', attach: ['workspace'] })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const asked = fetch(`${first.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body }).catch(() => null)
  expect(await first.ended).toBeNull()
  await asked
  const second = await startGateway({ dataDirectory })
  try {
    const records = await second.admin.requests.list({})
    expect(records.map((record) => record.state)).toEqual([state])
    const { bodies } = await second.admin.requests.show({ id: records[0]?.id ?? '', bodies: true })
    expect(bodies).toMatchObject({ capture: 'full', request: { content: body, truncated: false } })
    if (state === 'settled')
      expect(JSON.parse(bodies?.answer?.content ?? 'null')).toMatchObject({ object: 'chat.completion' })
  } finally {
    await second.stop()
  }
})
