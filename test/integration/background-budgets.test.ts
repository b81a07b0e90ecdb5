import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type BudgetStage,
  inputOf,
  nanoPerUsd as nano,
  budgetPolicy as policy,
  setBudgetStage,
  shows,
} from '../support/budget-stage.ts'
import type { TestGateway } from '../support/gateway.ts'
import type { Reply } from '../support/object-upstream.ts'

let stage: BudgetStage
let gateway: TestGateway
/** Nano-dollars that all records together must come to. */
let spent = 0

beforeAll(async () => {
  stage = await setBudgetStage()
  gateway = stage.gateway
  await ask('POST', '/assistants', shows({ id: 'asst_1', object: 'assistant' }), { model: 'gpt-a' })
})

afterAll(() => stage.close())

const ask: BudgetStage['ask'] = (...given) => stage.ask(...given)
const comesTo: BudgetStage['comesTo'] = (wanted) => stage.comesTo(wanted)

const runUsage = { prompt_tokens: 30, completion_tokens: 8, total_tokens: 38 }
const runCost = 30 * 2000 + 8 * 10_000

/** A thread, and the body of a run in it. */
async function makeThread(id: string): Promise<string> {
  await ask('POST', '/threads', shows({ id, object: 'thread' }), {})
  return `/threads/${id}/runs`
}
const run = { assistant_id: 'asst_1', model: 'gpt-a', max_completion_tokens: 100 }
const shownRun = (more: object) => shows({ id: 'run_1', object: 'thread.run', model: 'gpt-a', usage: null, ...more })

describe('a response in the background', () => {
  const body = { model: 'gpt-a', input: 'hi', background: true, max_output_tokens: 100 }
  const hold = inputOf(body) + 100 * 10_000
  const response = (id: string, more: object) => shows({ id, object: 'response', model: 'gpt-a', usage: null, ...more })

  it('holds what it may come to until its end is shown, and is booked what it used', async () => {
    await ask('POST', '/responses', response('resp_1', { status: 'queued', background: true }), body)
    await comesTo({ used: spent, held: hold })
    await ask('GET', '/responses/resp_1', response('resp_1', { status: 'in_progress' }))
    await comesTo({ used: spent, held: hold })
    const used = { input_tokens: 20, output_tokens: 40, total_tokens: 60 }
    for (let times = 0; times < 2; times++)
      await ask('GET', '/responses/resp_1', response('resp_1', { status: 'completed', usage: used }))
    spent += 20 * 2000 + 40 * 10_000
    await comesTo({ used: spent, held: 0 })
  })

  it('holds nothing more where it was cancelled', async () => {
    await ask('POST', '/responses', response('resp_2', { status: 'queued', background: true }), body)
    await comesTo({ used: spent, held: hold })
    await ask('POST', '/responses/resp_2/cancel', response('resp_2', { status: 'cancelled' }))
    await comesTo({ used: spent, held: 0 })
  })
})

describe('an interaction in the background', () => {
  it('holds until its end is shown', async () => {
    const body = { model: 'gemini-a', input: 'hi', background: true, generation_config: { max_output_tokens: 50 } }
    const path = '/gemini/v1beta/interactions'
    const made = { id: 'v1_1', object: 'interaction', model: 'gemini-a' }
    await ask('POST', path, shows({ ...made, status: 'in_progress' }), body)
    await comesTo({ used: spent, held: inputOf(body) + 50 * 10_000 })
    const used = { total_input_tokens: 5, total_output_tokens: 6 }
    await ask('GET', `${path}/v1_1`, shows({ ...made, status: 'completed', usage: used }))
    spent += 5 * 2000 + 6 * 10_000
    await comesTo({ used: spent, held: 0 })
  })
})

describe('the run of a thread', () => {
  it('holds until its end is shown', async () => {
    const path = await makeThread('thread_1')
    await ask('POST', path, shownRun({ status: 'queued' }), run)
    const hold = inputOf(run) + 100 * 10_000
    await comesTo({ used: spent, held: hold })
    await ask('GET', `${path}/run_1`, shownRun({ status: 'in_progress' }))
    await comesTo({ used: spent, held: hold })
    await ask('GET', `${path}/run_1`, shownRun({ status: 'completed', usage: runUsage }))
    spent += runCost
    await comesTo({ used: spent, held: 0 })
  })

  it('that is streamed holds while it waits for its tools, and is booked with the stream that ends it', async () => {
    const path = await makeThread('thread_2')
    const stream = (name: string, data: object): Reply => ({
      type: 'text/event-stream',
      body: `event: ${name}\ndata: ${JSON.stringify(data)}\n\nevent: done\ndata: [DONE]\n\n`,
    })
    const body = { ...run, stream: true }
    const shown = { id: 'run_2', object: 'thread.run', thread_id: 'thread_2', model: 'gpt-a' }
    const waits = stream('thread.run.requires_action', { ...shown, status: 'requires_action', usage: null })
    await (await ask('POST', path, waits, body)).text()
    await comesTo({ used: spent, held: inputOf(body) + 100 * 10_000 })
    const ends = stream('thread.run.completed', { ...shown, status: 'completed', usage: runUsage })
    await (await ask('POST', `${path}/run_2/submit_tool_outputs`, ends, { tool_outputs: [], stream: true })).text()
    spent += runCost
    await comesTo({ used: spent, held: 0 })
  })

  it('is refused where it names no model, which the budget could not count', async () => {
    const path = await makeThread('thread_3')
    const refused = await ask('POST', path, shownRun({ status: 'queued' }), { assistant_id: 'asst_1' })
    expect([refused.status, refused.headers.get('x-sp-error')]).toEqual([403, 'policy_denied'])
    expect(await refused.text()).toContain('name the model')
    await comesTo({ used: spent, held: 0 })
  })
})

describe('what goes on with a run', () => {
  const outputs = (text: string) => ({ tool_outputs: [{ tool_call_id: 'call_1', output: text }] })

  it('holds for each step what the model reads again, until the end of the run is shown', async () => {
    const path = await makeThread('thread_6')
    const shown = (more: object) => shownRun({ id: 'run_6', ...more })
    await ask('POST', path, shown({ status: 'queued' }), run)
    let step = inputOf(run)
    let held = step + 100 * 10_000
    for (const [count, streamed] of [false, true, false].entries()) {
      const body = { ...outputs('x'.repeat(400 * count)), ...(streamed ? { stream: true } : {}) }
      const waits = { id: 'run_6', object: 'thread.run', model: 'gpt-a', status: 'requires_action', usage: null }
      const events = `event: thread.run.requires_action\ndata: ${JSON.stringify(waits)}\n\nevent: done\ndata: [DONE]\n\n`
      const reply = streamed ? { type: 'text/event-stream', body: events } : shown({ status: 'queued' })
      const sent = await ask('POST', `${path}/run_6/submit_tool_outputs`, reply, body)
      expect([sent.status, await sent.text()]).toEqual([200, expect.any(String)])
      step += inputOf(body)
      held += step
      await comesTo({ used: spent, held })
    }
    const most = (spent + held + step) / nano
    await gateway.admin.policies.edit({ name: policy, budgetUsdMonth: most })
    const refused = await ask('POST', `${path}/run_6/submit_tool_outputs`, shown({}), outputs(''))
    expect([refused.status, refused.headers.get('x-sp-error')]).toEqual([429, 'rate_limited'])
    await gateway.admin.policies.edit({ name: policy, budgetUsdMonth: 1 })
    await ask('GET', `${path}/run_6`, shown({ status: 'completed', usage: runUsage }))
    spent += runCost
    await comesTo({ used: spent, held: 0 })
  })

  it('of a model that has no price any more is refused, as its run would be', async () => {
    const path = await makeThread('thread_7')
    const shown = (more: object) => shownRun({ id: 'run_7', ...more })
    await gateway.admin.prices.set({ model: 'gpt-z', input: 2, output: 10 })
    await gateway.addRoute('gpt-z', ['openai'])
    await ask('POST', path, shown({ status: 'queued', model: 'gpt-z' }), { ...run, model: 'gpt-z' })
    await gateway.admin.prices.remove({ model: 'gpt-z' })
    const refused = await ask('POST', `${path}/run_7/submit_tool_outputs`, shown({}), outputs(''))
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('gpt-z has no price')])
    await ask('POST', `${path}/run_7/cancel`, shown({ status: 'cancelled' }))
    await comesTo({ used: spent, held: 0 })
  })

  it('goes up only while the budget has any room', async () => {
    const path = await makeThread('thread_5')
    await ask('POST', path, shownRun({ id: 'run_5', status: 'queued' }), run)
    const submit = async () => {
      const waits = shownRun({ id: 'run_5', status: 'requires_action' })
      return await ask('POST', `${path}/run_5/submit_tool_outputs`, waits, { tool_outputs: [] })
    }
    expect((await submit()).status).toBe(200)
    await gateway.admin.policies.edit({ name: policy, budgetUsdMonth: spent / nano })
    const refused = await submit()
    expect([refused.status, refused.headers.get('x-sp-error')]).toEqual([429, 'budget_exceeded'])
    await gateway.admin.policies.edit({ name: policy, budgetUsdMonth: 1 })
    await ask('GET', `${path}/run_5`, shownRun({ id: 'run_5', status: 'completed', usage: runUsage }))
    spent += runCost
    await comesTo({ used: spent, held: 0 })
  })
})

describe('what was made before there was a budget', () => {
  it('is booked in the one that is there at its end', async () => {
    await gateway.admin.policies.remove({ name: policy })
    const path = await makeThread('thread_4')
    await ask('POST', path, shownRun({ id: 'run_4', status: 'queued' }), run)
    await gateway.admin.policies.add({ name: policy, budgetUsdMonth: 1, attach: ['workspace'] })
    // Its model is known nowhere: its step counts as of the dearest, is not held behind its end, and says so.
    const waits = shownRun({ id: 'run_4', status: 'queued' })
    const step = await ask('POST', `${path}/run_4/submit_tool_outputs`, waits, { tool_outputs: [] })
    expect(step.status).toBe(200)
    await comesTo({ used: spent, held: 0 })
    const [record] = await gateway.admin.requests.list({ limit: 1 })
    expect(record?.policy_signals.find(({ rule }) => rule === 'unpriced')).toMatchObject({
      verdict: 'flag',
      text: expect.stringContaining(
        'It is not known here which model run_4 uses: this call is estimated as one of gpt-a',
      ),
    })
    await ask('GET', `${path}/run_4`, shownRun({ id: 'run_4', status: 'completed', usage: runUsage }))
    spent += runCost
    await comesTo({ used: spent, held: 0 })
  })
})
