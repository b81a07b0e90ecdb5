import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import type { Limit } from '../../src/core/policies/policy-limits.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makePolicy, makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
let asked = 0
let usage: object | undefined

const price = (model: string, rates: object) => fillPrice({ model, source: 'set', version: 'v1', ...rates })
const prices = [
  price('painter', { per_image: { '*': 0.04 } }),
  price('drawer', { input: 5, output: 10, image_output: 30 }),
  price('speaker', { per_character: 0.000015 }),
  price('writer', { per_second: 0.0001 }),
]

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    asked++
    request.resume().on('end', () =>
      setTimeout(() => {
        const isSpeech = request.url?.includes('speech') === true
        response.setHeader('content-type', isSpeech ? 'audio/mpeg' : 'application/json')
        response.end(isSpeech ? 'sound' : JSON.stringify({ created: 1, data: [{}], text: 'x', usage }))
      }, 100),
    )
  })
  plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl: `${await listen(provider)}/v1` }],
    routes: prices.map(({ model }) => makeRoute(model, [makeTarget(`openai:${model}`)])),
    policies: [makePolicy('team', { budgetUsdDay: 0.1 })],
  })
  plane.tell({ type: 'prices', prices: { revision: 1, prices } })
  await plane.hear('has')
})
afterAll(async () => {
  await plane.stop()
  closeServer(provider)
})

/** A budget of its own for each. */
async function use(name: string, budgetUsdDay: number): Promise<() => { used: number; held: number }> {
  plane.configure({ policies: [makePolicy(name, { budgetUsdDay })] })
  await plane.hear('has')
  asked = 0
  const limit: Limit = {
    counter: `pol_${name} workspace usd day`,
    ...{ policy: name, scope: 'workspace', kind: 'usd', period: 'day', limit: 0, warns: false, perUser: false },
  }
  return () => plane.limits.budgetUse(limit, { timeZone: 'UTC', now: Date.now() })
}

async function send(path: string, body: object | FormData) {
  const isForm = body instanceof FormData
  const answer = await fetch(`${plane.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  })
  await answer.arrayBuffer()
  return { status: answer.status, record: await plane.record(answer.headers.get('x-sp-request-id')) }
}

async function sendAll(count: number, path: string, body: () => object | FormData): Promise<number[]> {
  const all = await Promise.all(Array.from({ length: count }, () => send(path, body())))
  return all.map(({ status }) => status).sort()
}

function sound(seconds: number): FormData {
  const form = new FormData()
  form.append('model', 'writer')
  form.append('file', new Blob([Buffer.alloc(seconds * 4000)]), 'a.mp3')
  return form
}

describe('a budget in USD, of many requests at once that are not paid by the token', () => {
  it.each<[string, string, () => object | FormData, number, number]>([
    ['images', '/images/generations', () => ({ model: 'painter', prompt: 'x', n: 1 }), 0.1, 2],
    ['several images of one request', '/images/generations', () => ({ model: 'painter', prompt: 'x', n: 2 }), 0.1, 1],
    ['speech', '/audio/speech', () => ({ model: 'speaker', voice: 'a', input: 'x'.repeat(2000) }), 0.1, 3],
    ['transcripts', '/audio/transcriptions', () => sound(400), 0.1, 2],
  ])('has room for so many of %s', async (name, path, body, most, fits) => {
    const spent = await use(name.replaceAll(' ', '-'), most)
    usage = undefined
    const statuses = await sendAll(6, path, body)
    expect(statuses).toEqual([
      ...Array.from({ length: fits }, () => 200),
      ...Array.from({ length: 6 - fits }, () => 429),
    ])
    expect(asked).toBe(fits)
    expect(spent()).toMatchObject({ held: 0 })
    expect(spent().used).toBeLessThanOrEqual(most * 1e9)
  })

  it('holds images that are paid by the token as large as they may get, and gives back what is left', async () => {
    const spent = await use('drawn', 0.4)
    usage = {
      ...{ input_tokens: 10, output_tokens: 1000, total_tokens: 1010 },
      output_tokens_details: { image_tokens: 1000 },
    }
    const draw = (more: object = {}) => ({ model: 'drawer', prompt: 'x', ...more })
    // 6240 × 30 of each.
    expect(await sendAll(4, '/images/generations', draw)).toEqual([200, 200, 429, 429])
    expect(spent()).toMatchObject({ used: 2 * (30_000_000 + 50_000), held: 0 })
    const { record } = await send('/images/generations', draw())
    expect(record).toMatchObject({ cost: { usd: 0.03005 }, estimate_error: null })
    // One of a lower quality needs less room.
    expect(await sendAll(6, '/images/generations', () => draw({ size: '1024x1024', quality: 'low' }))).toEqual(
      Array(6).fill(200),
    )
    expect(spent().held).toBe(0)
  })
})
