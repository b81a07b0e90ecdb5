import { setTimeout as wait } from 'node:timers/promises'
import { startObjectUpstream } from '../../../../test/support/object-upstream.ts'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'

/** At batch rates, in nano-dollars: $1 for a million tokens of input, $5 for as many of output. */
const cost = 5 * 1000 + 6 * 5000
const prices = { model: 'claude-batched', input: 2, output: 10, batchInput: 1, batchOutput: 5 }
/** Of so many batches one loses a node while its results are read. */
const killEvery = 5
const countedMs = 60_000

export const batches: FaultRow = {
  name: 'batches',
  fault: 'results of a batch fetched on three nodes at once, one of them killed now and then',
  counts: 'batches',
  usual: 20,
  async run(scene, { times }) {
    const key = await furnish(scene)
    scene.begin()
    let kills = 0
    for (let made = 0; made < times; made++) {
      const maker = scene.random.pick(scene.nodes)
      const { id } = JSON.parse(await ask(maker.gateway.baseUrl, key, '', newBatch))
      const readAll = () =>
        Promise.allSettled(scene.nodes.map(({ gateway }) => ask(gateway.baseUrl, key, `/${id}/results`)))
      const reading = readAll()
      if (made % killEvery === killEvery - 1) {
        const victim = scene.random.pick(scene.nodes)
        await wait(scene.random.between(0, 30))
        await scene.kill(victim)
        await scene.restart(victim)
        kills++
      }
      await reading
      // All are there by now, whoever died in between.
      for (const read of await readAll()) if (read.status === 'rejected') scene.problem(String(read.reason))
    }
    await scene.settle()
    const counted = await countRecords(scene, times)
    for (const { name, gateway } of scene.nodes) {
      const spent = async () => (await gateway.admin.policies.usage({ name: 'batches' }))[0]?.periods[0]
      const isRight = async () => Math.round(((await spent())?.used ?? 0) * 1e9) === times * cost
      if (!(await holds(isRight))) scene.problem(`${name} says of the budget ${JSON.stringify(await spent())}`)
    }
    return { batches: times, read: times * scene.nodes.length * 2, kills, counted }
  },
}

const newBatch = {
  requests: [
    {
      custom_id: 'one',
      params: { model: prices.model, max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] },
    },
  ],
}

/** A provider of batches, and a key whose budget they count against. */
async function furnish(scene: NodeScene): Promise<string> {
  const upstream = await startObjectUpstream()
  scene.onClose(() => upstream.close())
  const message = { model: prices.model, usage: { input_tokens: 5, output_tokens: 6 } }
  const results = JSON.stringify({ custom_id: 'one', result: { type: 'succeeded', message } })
  let made = 0
  upstream.answer = ({ target }) =>
    target.endsWith('/results')
      ? { type: 'application/x-jsonl', body: results }
      : {
          body: JSON.stringify({ id: `msgbatch_${made++}`, type: 'message_batch', processing_status: 'in_progress' }),
        }
  const [first] = scene.nodes
  if (first === undefined) throw new Error('there is no node')
  const { admin, createKey } = first.gateway
  const { baseUrl } = upstream
  await admin.providers.add({ name: 'batched', kind: 'anthropic', baseUrl, credential: 'sk-ant-b', skipCheck: true })
  await admin.routes.add({ model: prices.model, targets: ['batched'] })
  await admin.prices.set(prices)
  await admin.policies.add({ name: 'batches', budgetUsdMonth: 100 })
  const { key } = await createKey('batches', { policy: 'batches' })
  await scene.cluster.converge()
  return key
}

/** Again where an index or a budget is not there yet, as the SDKs do. */
async function ask(baseUrl: string, key: string, path: string, body?: object): Promise<string> {
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01', 'content-type': 'application/json' }
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
  for (const until = Date.now() + countedMs; ; await wait(100)) {
    const response = await fetch(`${baseUrl}/v1/anthropic/v1/messages/batches${path}`, init)
    const text = await response.text()
    if (response.status === 200) return text
    if (Date.now() > until || response.status < 429) throw new Error(`${path} is answered ${response.status}: ${text}`)
  }
}

/** Each batch has one record of what it used. */
async function countRecords(scene: NodeScene, times: number): Promise<number> {
  const batch = `substring(record_json from '"batch":"([^"]*)"')`
  const read = () =>
    scene.query(
      `select count(*), count(distinct ${batch}), sum(round(usd * 1e9)) from spgw.records
       where key_name = 'batches' and usd > 0`,
    )
  const wanted = `${times}|${times}|${times * cost}`
  if (!(await holds(async () => read() === wanted))) scene.problem(`batches are counted ${read()}; wanted ${wanted}`)
  return Number(read().split('|')[0])
}

async function holds(isSo: () => Promise<boolean>): Promise<boolean> {
  for (const until = Date.now() + countedMs; Date.now() < until; await wait(200)) if (await isSo()) return true
  return false
}
