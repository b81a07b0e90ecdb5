import { afterAll, describe, expect, it, vi } from 'vitest'
import { laneCall } from '../support/lane-calls.ts'
import { open } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

const stages: Stage[] = []
afterAll(() => Promise.all(stages.map((stage) => stage.close())))

async function stageWith(point: string): Promise<Stage> {
  const environment = { SPGW_GATEWAY_WORKERS: '2', SPGW_FAULT_POINT: `${point}:1:block` }
  const stage = await setStage({ environment })
  stages.push(stage)
  return stage
}

async function ready(stage: Stage) {
  const answer = await fetch(`${stage.gateway.baseUrl}/readyz`, { headers: { connection: 'close' } })
  return [answer.status, ((await answer.json()) as { reasons: string[] }).reasons.join()] as const
}

function ask(stage: Stage) {
  const lane = laneCall('openai')
  const { path, body } = lane.call(stage.models.openai, { stream: false })
  const headers: [string, string][] = [lane.credential(stage.key), ['content-type', 'application/json']]
  return open(stage.gateway.baseUrl + path, { headers, body }).whole
}

/** `expect.poll` is not for tests that run side by side. */
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 100 })

/** What every surface says of a thread that was blocked for 12 seconds. */
async function expectSeen({ gateway }: Stage, thread: string, work: RegExp): Promise<void> {
  const findTurn = async () => (await gateway.admin.status({})).long_turns.find((one) => one.thread.includes(thread))
  await until(async () => expect(await findTurn()).toBeDefined())
  const turn = await findTurn()
  expect(turn?.longest_ms).toBeGreaterThan(11_000)
  expect(turn?.last_work).toMatch(work)
  expect((await gateway.spgw(['status'])).stdout).toContain('blocked')
  const doctor = await gateway.spgw(['doctor'])
  expect(doctor.stdout).toContain(`the ${turn?.thread} was blocked for up to 1`)
  const metrics = await (await fetch(`${gateway.consoleUrl}/metrics`)).text()
  expect(metrics).toMatch(new RegExp(`spgw_long_turns_total\\{thread="${turn?.thread}"\\} [1-9]`))
  expect(metrics).toMatch(new RegExp(`spgw_longest_turn_seconds\\{thread="${turn?.thread}"\\} 1\\d`))
  await gateway.said('a turn of the event loop was long')
}

describe.concurrent('a thread that hangs', () => {
  it('the control plane: the gateway is not ready meanwhile, goes on serving, and recovers', async () => {
    const stage = await stageWith('seal-rotate.key-written')
    expect(await ready(stage)).toEqual([200, ''])
    const rotation = stage.gateway.admin.seal.rotate({})
    const silent = /the control plane has not responded for \d+ seconds/
    await until(async () => expect(await ready(stage)).toEqual([503, expect.stringMatching(silent)]))
    expect((await ask(stage)).status).toBe(200)
    await rotation
    await until(async () => expect(await ready(stage)).toEqual([200, '']))
    await expectSeen(stage, 'control plane', /seal/)
  })

  it('one of the data plane: the other goes on, and so does it', async () => {
    const stage = await stageWith('journal.after-admitted')
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(stage)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    await expectSeen(stage, 'data plane', /^request req_/)
  })

  it('the store: requests go on, and all of them have their records', async () => {
    const stage = await stageWith('ingest.before-commit')
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(stage)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    await expectSeen(stage, 'store', /./)
    for (const { requestId } of answers) await stage.gateway.record(requestId)
  })
})
