import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { type ObjectUpstream, type Reply, startObjectUpstream } from '../support/object-upstream.ts'

let upstream: ObjectUpstream
let gateway: TestGateway
let key: string
/** Nano-dollars that all records together must come to. */
let spent = 0

const policy = 'month'
const nano = 1e9

beforeAll(async () => {
  upstream = await startObjectUpstream()
  gateway = await startGateway()
  const { admin } = gateway
  const credentials = { openai: 'sk-work-0001', gemini: 'AIza-work-0001' }
  for (const [kind, credential] of Object.entries(credentials))
    await admin.providers.add({ name: kind, kind, baseUrl: upstream.baseUrl, credential, skipCheck: true })
  await gateway.addRoute('gpt-a', ['openai'])
  await gateway.addRoute('gemini-a', ['gemini'])
  for (const model of ['gpt-a', 'gemini-a']) await admin.prices.set({ model, input: 2, output: 10 })
  await admin.policies.add({ name: policy, budgetUsdMonth: 1, attach: ['workspace'] })
  key = (await gateway.createKey('maker')).key
  await ask('POST', '/assistants', shows({ id: 'asst_1', object: 'assistant' }), { model: 'gpt-a' })
})

afterAll(async () => {
  await gateway.stop()
  await upstream.close()
})

/** Again where a busy machine kept the index of objects from answering in time, as the SDKs do. */
async function ask(method: string, path: string, reply: Reply, body?: object, tries = 20): Promise<Response> {
  upstream.answer = () => reply
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const response = await fetch(`${gateway.baseUrl}/v1${path}`, sent)
  if (tries === 0 || response.headers.get('x-sp-error') !== 'object_index_unavailable') return response
  await response.text()
  return await ask(method, path, reply, body, tries - 1)
}

const shows = (value: object): Reply => ({ body: JSON.stringify(value) })

async function usage() {
  await gateway.admin.requests.list({ limit: 1 })
  const [found] = await gateway.admin.policies.usage({ name: policy })
  const [period] = found?.periods ?? []
  const show = (usd: number | null | undefined) => Math.round((usd ?? Number.NaN) * nano)
  return { used: show(period?.used), held: show(period?.held) }
}

/** The counter, which follows the store, and the records. */
async function comesTo(wanted: { used: number; held: number }): Promise<void> {
  await expect.poll(usage, { timeout: 20_000 }).toEqual(wanted)
  const records = await gateway.admin.requests.list({ limit: 1000 })
  expect(records.reduce((sum, { cost }) => sum + Math.round((cost?.usd ?? 0) * nano), 0)).toBe(wanted.used)
}

const inputOf = (body: object) => Math.ceil(JSON.stringify(body).length / 4) * 2000
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

describe('the run of an eval', () => {
  const shown = (more: object) => shows({ id: 'evalrun_1', object: 'eval.run', eval_id: 'eval_1', ...more })
  const used = { model_name: 'gpt-a', invocation_count: 2, prompt_tokens: 9, completion_tokens: 3, cached_tokens: 0 }
  const content = [{ item: { q: 'one' } }, { item: { q: 'two' } }]
  const runOf = (model: string, sampling: object) => ({
    data_source: {
      type: 'completions',
      model,
      source: { type: 'file_content', content },
      input_messages: { type: 'template', template: [{ role: 'user', content: '{{item.q}}' }] },
      sampling_params: sampling,
    },
  })

  beforeAll(async () => {
    const made = { data_source_config: {}, testing_criteria: [{ type: 'score_model', model: 'gpt-a' }] }
    expect((await ask('POST', '/evals', shows({ id: 'eval_1', object: 'eval' }), made)).status).toBe(200)
  })

  it('holds what its items may come to until its end is shown, and is booked what it used', async () => {
    const body = runOf('gpt-a', { max_completion_tokens: 50 })
    const template = JSON.stringify(body).length - JSON.stringify(content).length
    const items = content.reduce((sum, item) => sum + JSON.stringify(item).length, 0)
    await ask('POST', '/evals/eval_1/runs', shown({ status: 'queued' }), body)
    const hold = Math.ceil((items + 2 * template) / 4) * 2000 + 2 * 50 * 10_000
    await comesTo({ used: spent, held: hold })
    await ask('GET', '/evals/eval_1/runs/evalrun_1', shown({ status: 'in_progress' }))
    await comesTo({ used: spent, held: hold })
    await ask('GET', '/evals/eval_1/runs/evalrun_1', shown({ status: 'completed', per_model_usage: [used] }))
    spent += 9 * 2000 + 3 * 10_000
    await comesTo({ used: spent, held: 0 })
  })

  it('holds nothing more where it was cancelled, and is booked what it used by then', async () => {
    const body = runOf('gpt-a', { max_completion_tokens: 50 })
    const shownTwo = (more: object) => shown({ id: 'evalrun_2', ...more })
    await ask('POST', '/evals/eval_1/runs', shownTwo({ status: 'queued' }), body)
    expect((await usage()).held).toBeGreaterThan(2 * 50 * 10_000)
    const cancelled = shownTwo({ status: 'canceled', per_model_usage: [used] })
    await ask('POST', '/evals/eval_1/runs/evalrun_2', cancelled)
    spent += 9 * 2000 + 3 * 10_000
    await comesTo({ used: spent, held: 0 })
  })

  it('is refused where its answers have no limit, or its model no price', async () => {
    const unlimited = await ask('POST', '/evals/eval_1/runs', shown({}), runOf('gpt-a', {}))
    expect([unlimited.status, unlimited.headers.get('x-sp-error')]).toEqual([403, 'policy_denied'])
    expect(await unlimited.text()).toContain('max_tokens in sampling_params')
    const unpriced = await ask('POST', '/evals/eval_1/runs', shown({}), runOf('gpt-b', { max_tokens: 5 }))
    expect(await unpriced.text()).toContain('gpt-b has no price')
    await comesTo({ used: spent, held: 0 })
  })

  it('may ask no model that its key may not, nor may graders', async () => {
    const { admin } = gateway
    await admin.policies.add({ name: 'no-b', denyModels: ['gpt-b'], attach: ['workspace'] })
    const grader = { type: 'score_model', name: 'g', model: 'gpt-b', input: [] }
    const calls: [string, object][] = [
      ['/evals/eval_1/runs', runOf('gpt-b', { max_tokens: 5 })],
      ['/evals', { data_source_config: {}, testing_criteria: [{ type: 'label_model', model: 'gpt-b' }] }],
      ['/fine_tuning/alpha/graders/run', { grader, model_sample: 'x' }],
      ['/fine_tuning/alpha/graders/run', { grader: { type: 'multi', graders: { one: grader } }, model_sample: 'x' }],
      ['/fine_tuning/jobs', { model: 'gpt-a', training_file: 'f', method: { reinforcement: { grader } } }],
    ]
    for (const [path, body] of calls) {
      const refused = await ask('POST', path, shown({}), body)
      expect([path, refused.status, refused.headers.get('x-sp-error')]).toEqual([path, 403, 'policy_denied'])
    }
    await admin.policies.remove({ name: 'no-b' })
  })

  it('without a model of its own is booked what it shows at its end', async () => {
    const shownThree = (more: object) => shown({ id: 'evalrun_3', ...more })
    await ask('POST', '/evals/eval_1/runs', shownThree({ status: 'queued' }), { data_source: { type: 'jsonl' } })
    await ask('GET', '/evals/eval_1/runs/evalrun_3', shownThree({ status: 'completed', per_model_usage: [used] }))
    spent += 9 * 2000 + 3 * 10_000
    await comesTo({ used: spent, held: 0 })
  })
})

describe('a grader', () => {
  const body = (sampling: object) => ({
    grader: { type: 'score_model', name: 'g', model: 'gpt-a', input: [], sampling_params: sampling },
    model_sample: 'x',
  })
  const graded = (usage: object) => shows({ reward: 1, metadata: {}, model_grader_token_usage_per_model: usage })
  const last = async () => (await gateway.admin.requests.list({ limit: 1 }))[0]

  it('is booked what its model used', async () => {
    const used = { prompt_tokens: 190, completion_tokens: 34, total_tokens: 224, cached_tokens: 0 }
    const sent = await ask(
      'POST',
      '/fine_tuning/alpha/graders/run',
      graded({ 'gpt-a': used }),
      body({ max_tokens: 90 }),
    )
    expect(sent.status).toBe(200)
    spent += 190 * 2000 + 34 * 10_000
    await comesTo({ used: spent, held: 0 })
    expect(await last()).toMatchObject({ operation: 'graders.run', tokens: { input: 190, output: 34 } })
  })

  it('is flagged where its answer does not say it of one model', async () => {
    const used = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    for (const usage of [{}, { 'gpt-a': used, 'gpt-c': used }]) {
      await ask('POST', '/fine_tuning/alpha/graders/run', graded(usage), body({ max_tokens: 90 }))
      const record = await last()
      expect([record?.cost, record?.policy_signals.some(({ rule }) => rule === 'unpriced')]).toEqual([null, true])
    }
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
      text: expect.stringContaining('Which model run_4 asks is not known here: this call counts as of gpt-a'),
    })
    await ask('GET', `${path}/run_4`, shownRun({ id: 'run_4', status: 'completed', usage: runUsage }))
    spent += runCost
    await comesTo({ used: spent, held: 0 })
  })
})
