import { setTimeout as sleep } from 'node:timers/promises'
import { callFor } from '../calls.ts'
import { newAgent, open } from '../client.ts'
import { quantile } from '../statistics.ts'
import type { Bench, Part, Target } from '../target.ts'

const eachPhase = 100
/** Fewer than open the provider's breaker, which would hide a call that should not have come. */
const waiting = 3
/** The provider asks for a second. */
const retryMs = 1500

/** From the client's hanging up to the closing of the provider's connection, by how far the answer had come. */
const phases = {
  'before-head': { model: 'bench-hang', content: false },
  'before-content': { model: 'bench-head', content: false },
  'mid-stream': { model: 'bench-open-20', content: true },
} as const

export const aborts: Part = {
  name: 'clients that hang up',
  only: ['spgw', 'beside'],
  async measure(target, bench) {
    const figures: Record<string, number> = {}
    for (const [phase, { model, content }] of Object.entries(phases)) {
      const times: number[] = []
      for (let turn = 0; turn < eachPhase; turn++)
        times.push(await abortOnce(bench, target, model, content, `${phase}-${newTag()}`))
      figures[`abort-${phase}-p50`] = quantile(times, 0.5)
      figures[`abort-${phase}-p99`] = quantile(times, 0.99)
    }
    figures['abort-late-calls'] = await countCallsAfterAbort(bench, target)
    return figures
  },
}

async function abortOnce(bench: Bench, target: Target, model: string, content: boolean, tag: string): Promise<number> {
  const agent = newAgent()
  const sent = open(agent, target, callFor('openai', `${model}.${tag}`, true))
  sent.on('error', () => {})
  await bench.mock.called(tag)
  if (content)
    await new Promise<void>((resolve) => {
      sent.on('response', (response) => response.on('error', () => {}).once('data', () => resolve()))
    })
  // A head that is on its way must have reached the gateway.
  else await sleep(10)
  const at = process.hrtime.bigint()
  sent.destroy()
  const closedAt = await bench.mock.closed(tag)
  agent.destroy()
  return Number(closedAt - at) / 1e6
}

/**
 * Calls that reach the provider although their client has hung up during the wait before a retry. One client that stays
 * shows that there would have been a call.
 */
async function countCallsAfterAbort({ mock }: Bench, target: Target): Promise<number> {
  const tags = Array.from({ length: waiting }, () => `wait-${newTag()}`)
  const agent = newAgent()
  const sent = tags.map((tag) => open(agent, target, callFor('openai', `bench-busy.${tag}`)).on('error', () => {}))
  await Promise.all(tags.map((tag) => mock.called(tag)))
  await sleep(200)
  for (const one of sent.slice(1)) one.destroy()
  await sleep(retryMs)
  agent.destroy()
  if (mock.calls(tags[0]!) !== 2) throw new Error('the retry that should have come did not')
  return tags.slice(1).reduce((sum, tag) => sum + mock.calls(tag) - 1, 0)
}

let lastTag = 0
function newTag(): string {
  lastTag++
  return String(lastTag)
}
