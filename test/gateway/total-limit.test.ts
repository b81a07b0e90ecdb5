import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { startSilentListener } from '../support/silent-listener.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

let plane: DataPlane
let provider: Awaited<ReturnType<typeof startSilentListener>>

beforeAll(async () => {
  provider = await startSilentListener()
  const baseUrl = `http://127.0.0.1:${provider.port}/v1`
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', name: 'one', baseUrl },
      { kind: 'openai', name: 'two', baseUrl },
    ],
    routes: [makeRoute('m', [makeTarget('one'), makeTarget('two')], { timeouts: { total: 100 } })],
  })
})
afterAll(async () => {
  await plane.stop()
  provider.close()
})

it('a target is not asked, and not blamed, once others have taken the time of the whole call', async () => {
  const response = await fetch(`${plane.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}` },
    body: JSON.stringify({ model: 'm', messages: [] }),
  })
  expect([response.status, response.headers.get('x-sp-error')]).toEqual([504, 'provider_timeout'])
  expect(await response.text()).toContain('the total limit of 100ms')
  const record = await plane.record(response.headers.get('x-sp-request-id'))
  expect(record.attempts.map((attempt) => attempt.provider)).toEqual(['one'])
  expect(record.routing_signals.at(-1)).toMatchObject({
    verdict: 'skipped',
    text: 'two (m): the time for the whole call is over.',
    data: { code: 'time' },
  })
})
