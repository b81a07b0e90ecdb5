import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BudgetStage, setBudgetStage, shows } from '../support/budget-stage.ts'
import type { TestGateway } from '../support/gateway.ts'

let stage: BudgetStage
let gateway: TestGateway
/** Nano-dollars that all records together must come to. */
let spent = 0

beforeAll(async () => {
  stage = await setBudgetStage()
  gateway = stage.gateway
})

afterAll(() => stage.close())

const ask: BudgetStage['ask'] = (...given) => stage.ask(...given)
const comesTo: BudgetStage['comesTo'] = (wanted) => stage.comesTo(wanted)

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

  const grader = { type: 'score_model', model: 'gpt-a' }
  const label = { type: 'label_model', model: 'gpt-a', labels: ['good', 'bad'] }
  const gradedIn = (more: object) => ({ ...grader, sampling_params: { max_completion_tokens: 30 }, ...more })
  const lengthOf = (value: object) => JSON.stringify(value).length
  /** What a grader that allows itself so many tokens holds for items of so many bytes, answered with 50 tokens each. */
  const gradedFor = (graders: object[], output: number, items: number, bytes: number) =>
    Math.ceil(graders.reduce((sum, each) => sum + items * lengthOf(each) + bytes + items * 200, 0) / 4) * 2000 +
    items * output * 10_000

  beforeAll(async () => {
    const made = { data_source_config: {}, testing_criteria: [grader] }
    expect((await ask('POST', '/evals', shows({ id: 'eval_1', object: 'eval' }), made)).status).toBe(200)
  })

  it('holds what its items may come to until its end is shown, and is booked what it used', async () => {
    const body = runOf('gpt-a', { max_completion_tokens: 50 })
    const template = JSON.stringify(body).length - JSON.stringify(content).length
    const items = content.reduce((sum, item) => sum + JSON.stringify(item).length, 0)
    await ask('POST', '/evals/eval_1/runs', shown({ status: 'queued' }), body)
    const asked = Math.ceil((items + 2 * template) / 4) * 2000 + 2 * 50 * 10_000
    const hold = asked + gradedFor([grader], 1024, 2, items)
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
    expect((await stage.usage()).held).toBeGreaterThan(2 * 50 * 10_000)
    const cancelled = shownTwo({ status: 'canceled', per_model_usage: [used] })
    await ask('POST', '/evals/eval_1/runs/evalrun_2', cancelled)
    spent += 9 * 2000 + 3 * 10_000
    await comesTo({ used: spent, held: 0 })
  })

  it('holds for each line of a file, and for each of its graders', async () => {
    const graders = [gradedIn({ name: 'one' }), label]
    await ask('POST', '/evals', shows({ id: 'eval_2', object: 'eval' }), { testing_criteria: graders })
    const lines = ['{"item":{"q":"one"}}', '{"item":{"q":"two or three"}}', '{"item":{}}']
    for (const [id, fields] of Object.entries({
      file_1: { purpose: 'evals', file: new File([`${lines.join('\n')}\n`], 'items.jsonl') },
      file_2: { file: new File([lines.join('\n')], 'items.jsonl'), purpose: 'evals' },
    })) {
      const form = new FormData()
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      stage.upstream.answer = () => shows({ id, object: 'file' })
      const headers = { authorization: `Bearer ${stage.key}` }
      expect((await fetch(`${gateway.baseUrl}/v1/files`, { method: 'POST', headers, body: form })).status).toBe(200)
      const body = {
        data_source: { ...runOf('gpt-a', { max_tokens: 50 }).data_source, source: { type: 'file_id', id } },
      }
      const run = `evalrun_${id}`
      const shownHere = (more: object) => shows({ id: run, object: 'eval.run', eval_id: 'eval_2', ...more })
      const sent = await ask('POST', '/evals/eval_2/runs', shownHere({ status: 'queued' }), body)
      expect([sent.status, await sent.text()]).toEqual([200, expect.any(String)])
      const bytes = lines.join('').length
      const asked = Math.ceil((bytes + 3 * lengthOf(body)) / 4) * 2000 + 3 * 50 * 10_000
      await comesTo({ used: spent, held: asked + gradedFor(graders, 30 + 1024, 3, bytes) })
      await ask('GET', `/evals/eval_2/runs/${run}`, shownHere({ status: 'failed' }))
      await comesTo({ used: spent, held: 0 })
    }
  })

  it('says where the items of a file are not known, and makes no batch of one for evals', async () => {
    const before = { ...shows({ id: 'file_3', object: 'file' }) }
    const form = new FormData()
    form.append('purpose', 'user_data')
    form.append('file', new File(['{"item":{}}'], 'items.jsonl'))
    stage.upstream.answer = () => before
    await fetch(`${gateway.baseUrl}/v1/files`, {
      ...{ method: 'POST', headers: { authorization: `Bearer ${stage.key}` }, body: form },
    })
    const { data_source } = runOf('gpt-a', { max_tokens: 50 })
    const body = { data_source: { ...data_source, source: { type: 'file_id', id: 'file_3' } } }
    await ask('POST', '/evals/eval_2/runs', shows({ id: 'evalrun_9', object: 'eval.run', status: 'failed' }), body)
    const [record] = await gateway.admin.requests.list({ limit: 1 })
    expect(record?.routing_signals.map(({ text }) => text)).toContain(
      'How many items the file "file_3" has is not known here: budgets count it as one.',
    )
    const batch = await ask('POST', '/batches', shows({}), { input_file_id: 'file_1', endpoint: '/v1/responses' })
    expect([batch.status, await batch.text()]).toEqual([400, expect.stringContaining('it was uploaded for evals')])
  })

  it('is refused where its answers have no limit, or its model no price', async () => {
    const unlimited = await ask('POST', '/evals/eval_1/runs', shown({}), runOf('gpt-a', {}))
    expect([unlimited.status, unlimited.headers.get('x-sp-error')]).toEqual([403, 'policy_denied'])
    const said = /set max_completion_tokens to at most (\d+) in sampling_params/.exec(await unlimited.text())
    const most = Number(said?.[1])
    const longer = await ask(
      'POST',
      '/evals/eval_1/runs',
      shown({}),
      runOf('gpt-a', { max_completion_tokens: most + 20 }),
    )
    expect(longer.headers.get('x-sp-error')).toBe('budget_exceeded')
    expect(most).toBeGreaterThan(1000)
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
    // Its grader was allowed to the key that made it.
    const graded = { testing_criteria: [{ type: 'label_model', model: 'gpt-b' }] }
    await admin.policies.remove({ name: 'no-b' })
    await gateway.addRoute('gpt-b', ['openai'])
    await admin.prices.set({ model: 'gpt-b', input: 2, output: 10 })
    const made = await ask('POST', '/evals', shows({ id: 'eval_3', object: 'eval' }), graded)
    expect([made.status, await made.text()]).toEqual([200, expect.any(String)])
    await admin.policies.add({ name: 'no-b', denyModels: ['gpt-b'], attach: ['workspace'] })
    calls.push(['/evals/eval_3/runs', { data_source: { type: 'jsonl' } }])
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
