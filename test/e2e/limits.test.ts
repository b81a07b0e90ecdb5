import { afterAll, beforeAll, expect, it } from 'vitest'
import { laneNames } from '../../src/core/lane.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { send } from '../support/raw-http.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startGateway()
  await gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
  await gateway.addRoute('demo*', ['demo'], { allEnvironments: true })
})
afterAll(() => gateway.stop())

it.each(laneNames)('a key has its requests a minute, exactly, however many ask at once: %s', async (lane) => {
  const { key } = await gateway.createKey(lane)
  await gateway.admin.policies.add({ name: `few-${lane}`, rpm: 5, attach: [`key:${lane}`] })
  const { path, body } = laneCall(lane).call('demo')
  const headers: [string, string][] = [laneCall(lane).credential(key), ['content-type', 'application/json']]
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(gateway.baseUrl + path, { headers, body })))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused).toHaveLength(15)
  for (const answer of refused) {
    expectLaneError(lane, answer, 'rate_limited')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
})
