import { afterEach, expect, it } from 'vitest'
import type { DegradedPart } from '../../src/core/degraded.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'

let plane: DataPlane
afterEach(() => plane.stop())

async function ask(path: string, key: string) {
  const response = await fetch(`${plane.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } })
  const { error, reasons } = (await response.json()) as { error?: { message: string }; reasons?: string[] }
  const { headers, status } = response
  return { status, code: headers.get('x-sp-error'), again: headers.get('retry-after'), text: error?.message ?? reasons }
}

it('refuses what a valid key asks for while its node is isolated, says so to a balancer, and serves again afterwards', async () => {
  plane = await startDataPlane({ providers: [] })
  const isolated: DegradedPart = { part: 'isolated', reason: 'cut off', since: '2026-11-27T14:00:00.000Z' }
  expect((await ask('/v1/models', plane.key)).status).toBe(200)
  plane.tell({ type: 'degraded', parts: [isolated] })
  await expect.poll(async () => (await ask('/readyz', '')).text).toContain('isolated: cut off')
  expect(await ask('/v1/models', plane.key)).toEqual({
    ...{ status: 503, code: 'overloaded', again: '5' },
    text: expect.stringContaining('cut off from the others'),
  })
  expect((await ask('/v1/models', `${plane.key}x`)).status).toBe(401)
  expect((await ask('/readyz', '')).status).toBe(503)
  plane.tell({ type: 'degraded', parts: [] })
  await expect.poll(async () => (await ask('/v1/models', plane.key)).status).toBe(200)
})

it('sends clients to the others while its node has not joined them, since it knows none of their keys', async () => {
  plane = await startDataPlane({ providers: [] })
  const alone: DegradedPart = { part: 'membership', reason: 'not joined', since: '2026-11-27T14:00:00.000Z' }
  const elsewhere = `${plane.key}x`
  plane.tell({ type: 'degraded', parts: [alone] })
  await expect.poll(async () => (await ask('/readyz', '')).text).toContain('membership: not joined')
  expect((await ask('/readyz', '')).status).toBe(503)
  expect(await ask('/v1/models', elsewhere)).toEqual({
    ...{ status: 503, code: 'overloaded', again: '5' },
    text: expect.stringContaining('not joined the others'),
  })
  expect((await ask('/v1/models', plane.key)).status).toBe(200)
  plane.tell({ type: 'degraded', parts: [] })
  await expect.poll(async () => (await ask('/v1/models', elsewhere)).status).toBe(401)
})
