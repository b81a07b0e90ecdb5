import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorCode } from '../../src/core/errors.ts'
import { type LaneName, laneNames } from '../../src/core/lane.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { expectLaneError } from '../support/lane-errors.ts'
import { type RawAnswer, send } from '../support/raw-http.ts'

let gateway: TestGateway
let key: string
/** In the same project, in another environment, under another key: what is attached further down does not hold for it. */
let elsewhere: string

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.admin.providers.add({ name: 'demo', kind: 'demo' })
  await gateway.addRoute('demo*', ['demo'], { allEnvironments: true })
  await gateway.admin.environments.add({ name: 'staging' })
  key = (await gateway.createKey('ci')).key
  elsewhere = (await gateway.createKey('elsewhere', { environment: 'staging' })).key
})
afterAll(() => gateway.stop())

function ask(lane: LaneName, credential: string, prompt = 'hello'): Promise<RawAnswer> {
  const { path, body } = laneCall(lane).call('demo', { prompt })
  const headers: [string, string][] = [laneCall(lane).credential(credential), ['content-type', 'application/json']]
  return send(gateway.baseUrl + path, { headers, body })
}

const rules: { name: string; rule: object; code: ErrorCode; lanes: readonly LaneName[] }[] = [
  { name: '--allow-model', rule: { allowModels: ['other'] }, code: 'policy_denied', lanes: laneNames },
  { name: '--deny-model', rule: { denyModels: ['de*'] }, code: 'policy_denied', lanes: laneNames },
  { name: '--lane', rule: { lanes: ['anthropic'] }, code: 'policy_denied', lanes: ['openai', 'gemini'] },
  { name: '--deny-pattern', rule: { denyPatterns: ['(?:hello ){3}'] }, code: 'policy_denied', lanes: laneNames },
  { name: '--max-body', rule: { maxBody: '200B' }, code: 'request_too_large', lanes: laneNames },
]
const levels = [
  { attach: 'workspace', holdsElsewhere: true },
  { attach: 'project:default', holdsElsewhere: true },
  { attach: 'environment:default/production', holdsElsewhere: false },
  { attach: 'key:ci', holdsElsewhere: false },
]

describe.each(levels)('attached to $attach', ({ attach, holdsElsewhere }) => {
  it.each(rules)('$name refuses in the shape of each lane', async ({ rule, code, lanes }) => {
    const prompt = 'hello '.repeat(40)
    await gateway.admin.policies.add({ name: 'tried', attach: [attach], ...rule })
    try {
      for (const lane of lanes) {
        const refused = await ask(lane, key, prompt)
        expectLaneError(lane, refused, code)
        const record = await gateway.record(refused.requestId)
        expect(record).toMatchObject({ status: refused.status, error: { code }, attempts: [] })
        expect(record.policy_signals.filter(({ verdict }) => verdict === 'deny')).toHaveLength(1)
        expect((await ask(lane, elsewhere, prompt)).status).toBe(holdsElsewhere ? refused.status : 200)
      }
      if (lanes.length < laneNames.length) expect((await ask('anthropic', key)).status).toBe(200)
    } finally {
      await gateway.admin.policies.remove({ name: 'tried' })
    }
    for (const lane of laneNames) expect((await ask(lane, key, prompt)).status).toBe(200)
  })
})
