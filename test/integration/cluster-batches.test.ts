import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestCluster } from '../support/cluster.ts'
import { type ObjectUpstream, type Reply, startObjectUpstream } from '../support/object-upstream.ts'
import { needsPostgres, postgresPrograms } from '../support/postgres-server.ts'

const nano = 1e9
const names = ['gw-a', 'gw-b'] as const
type Name = (typeof names)[number]

/** At batch rates: $1 for a million tokens of input, $5 for as many of output. */
const params = { model: 'claude', max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }
const cost = 5 * 1000 + 6 * 5000

function countRows(path: string, table: string): number {
  const sqlite = new Sqlite(path, { readonly: true })
  try {
    return Number(sqlite.prepare(`select count(*) from ${table}`).pluck().get())
  } finally {
    sqlite.close()
  }
}

describe.skipIf(postgresPrograms === null)(`batches of two nodes (${needsPostgres})`, () => {
  let cluster: TestCluster
  let upstream: ObjectUpstream
  let key: string
  beforeAll(async () => {
    upstream = await startObjectUpstream()
    cluster = await TestCluster.start(names, { records: 'shared' })
    const { admin, addRoute, createKey } = node('gw-a').gateway
    const { baseUrl } = upstream
    const credentials = { openai: 'sk-batches-0001', anthropic: 'sk-ant-batches-0001' }
    for (const [kind, credential] of Object.entries(credentials))
      await admin.providers.add({ name: kind, kind, baseUrl, credential, skipCheck: true })
    await addRoute('claude', ['anthropic'])
    await addRoute('gpt-a', ['openai'])
    for (const model of ['claude', 'gpt-a'])
      await admin.prices.set({ model, input: 2, output: 10, batchInput: 1, batchOutput: 5 })
    await admin.policies.add({ name: 'batches', budgetUsdMonth: 1, attach: ['workspace'] })
    key = (await createKey('maker')).key
    await cluster.converge()
  })
  afterAll(async () => {
    await cluster?.stop()
    await upstream?.close()
  })

  const node = (name: Name) => cluster.node(name)

  /** Again where an index or a budget is not there yet, as the SDKs do. */
  async function ask(name: Name, method: string, path: string, reply: Reply, body?: object): Promise<string> {
    upstream.answer = () => reply
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    let text = ''
    const status = async () => {
      const response = await fetch(`${node(name).gateway.baseUrl}/v1${path}`, init)
      text = await response.text()
      return response.status
    }
    await expect.poll(status, { timeout: 20_000 }).toBe(200)
    return text
  }

  const batches = '/anthropic/v1/messages/batches'
  const make = (name: Name, id: string) =>
    ask(
      ...([name, 'POST', batches] as const),
      { body: JSON.stringify({ id, type: 'message_batch', processing_status: 'in_progress' }) },
      { requests: [{ custom_id: 'one', params }] },
    )
  const message = { model: 'claude', usage: { input_tokens: 5, output_tokens: 6 } }
  const results = JSON.stringify({ custom_id: 'one', result: { type: 'succeeded', message } })
  const read = (name: Name, id: string) =>
    ask(name, 'GET', `${batches}/${id}/results`, { type: 'application/x-jsonl', body: results })

  const countIn = (name: Name, table: string) => countRows(join(node(name).dataDirectory, 'spgw.db'), table)

  /** Of the month, in nano-dollars: what all have spent as the node shows it, and what it holds for batches itself. */
  async function usage(name: Name): Promise<{ used: number; holds: number }> {
    const [found] = await node(name).gateway.admin.policies.usage({ name: 'batches' })
    const used = Math.round((found?.periods[0]?.used ?? Number.NaN) * nano)
    return { used, holds: countIn(name, 'batch_holds') }
  }

  const records = (id: string) => {
    const text = cluster.postgres.query(
      `select count(*), sum(round(usd * 1e9)) from spgw.records where record_json like '%"batch":"${id}"%' and usd is not null`,
    )
    return text.trim()
  }

  let spent = 0
  const settles = async (id: string) => {
    spent += cost
    for (const name of names)
      await expect.poll(() => usage(name), { timeout: 20_000 }).toEqual({ used: spent, holds: 0 })
    await expect.poll(() => records(id)).toBe(`1|${cost}`)
  }

  it('count what a batch used once, whose results are read through both', async () => {
    await make('gw-a', 'msgbatch_both')
    await expect.poll(() => usage('gw-a')).toEqual({ used: spent, holds: 1 })
    await Promise.all(names.map((name) => read(name, 'msgbatch_both')))
    await settles('msgbatch_both')
    await Promise.all(names.map((name) => read(name, 'msgbatch_both')))
    await settlesNothingMore('msgbatch_both')
  })

  async function settlesNothingMore(id: string): Promise<void> {
    spent -= cost
    await settles(id)
  }

  it('hold nothing more on the node that made it, once the other has read the results', async () => {
    await make('gw-a', 'msgbatch_other')
    await expect.poll(() => usage('gw-a')).toEqual({ used: spent, holds: 1 })
    await read('gw-b', 'msgbatch_other')
    await settles('msgbatch_other')
  })

  it('wait for PostgreSQL with what they used, also across a kill, and hold it until then', async () => {
    await make('gw-b', 'msgbatch_cut')
    await expect.poll(() => usage('gw-b')).toEqual({ used: spent, holds: 1 })
    node('gw-b').proxy.become('cut')
    await read('gw-b', 'msgbatch_cut')
    await expect.poll(() => countIn('gw-b', 'waiting_usage')).toBe(1)
    await node('gw-b').gateway.kill('SIGKILL')
    await node('gw-b').restart()
    expect(['waiting_usage', 'batch_holds'].map((table) => countIn('gw-b', table))).toEqual([1, 1])
    const waiting = async () => (await node('gw-b').gateway.admin.cluster.status({})).outbox?.usage
    await expect.poll(waiting).toBe(1)
    node('gw-b').proxy.become('pass')
    await settles('msgbatch_cut')
    await expect.poll(waiting).toBe(0)
  })

  it('go on with a run that the other has made as with its own, and let both go at its end', async () => {
    await node('gw-a').gateway.addRoute('gpt-dear', ['openai'])
    await node('gw-a').gateway.admin.prices.set({ model: 'gpt-dear', input: 200, output: 1000 })
    await cluster.converge()
    await ask('gw-a', 'POST', '/threads', { body: JSON.stringify({ id: 'thread_1', object: 'thread' }) }, {})
    const run = (more: object) => {
      const shown = { id: 'run_1', object: 'thread.run', thread_id: 'thread_1', model: 'gpt-a', usage: null, ...more }
      return { body: JSON.stringify(shown) }
    }
    const runs = '/threads/thread_1/runs'
    const asked = { assistant_id: 'asst_1', model: 'gpt-a', max_completion_tokens: 100 }
    const assistant = { body: JSON.stringify({ id: 'asst_1', object: 'assistant' }) }
    await ask('gw-a', 'POST', '/assistants', assistant, { model: 'gpt-a' })
    await ask('gw-a', 'POST', runs, run({ status: 'requires_action' }), asked)
    await ask('gw-b', 'POST', `${runs}/run_1/submit_tool_outputs`, run({ status: 'queued' }), { tool_outputs: [] })
    for (const name of names) await expect.poll(() => usage(name)).toEqual({ used: spent, holds: 1 })
    // It counts as of the run's own model, and not of the dearest.
    const [step] = await node('gw-b').gateway.admin.requests.list({ limit: 1 })
    expect(step).toMatchObject({ operation: 'threads.runs.submit', status: 200 })
    expect(step?.policy_signals.map(({ rule }) => rule)).not.toContain('unpriced')
    const used = { prompt_tokens: 30, completion_tokens: 8, total_tokens: 38 }
    await ask('gw-b', 'GET', `${runs}/run_1`, run({ status: 'completed', usage: used }))
    spent += 30 * 2000 + 8 * 10_000
    for (const name of names)
      await expect.poll(() => usage(name), { timeout: 20_000 }).toEqual({ used: spent, holds: 0 })
  })
})
