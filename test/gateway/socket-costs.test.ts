import { afterEach, expect, it } from 'vitest'
import { fillPrice } from '../../src/core/cost/model-price.ts'
import { startDataPlane } from '../support/data-plane.ts'
import { dial, startSocketProvider } from '../support/sockets.ts'

const opened: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.stop()
})

/** As OpenAI prices `gpt-realtime`. */
const price = fillPrice({
  ...{ model: 'openai-model', source: 'set', version: 'v1', input: 4, output: 16, cache_read: 0.4 },
  ...{ audio_input: 32, audio_output: 64, audio_cache_read: 0.4, image_input: 5, image_cache_read: 0.5 },
})

/** As its reference shows `response.done`: cached tokens are counted in those of their kind, too. */
const turns = [
  {
    usage: {
      ...{ total_tokens: 253, input_tokens: 132, output_tokens: 121 },
      input_token_details: {
        ...{ text_tokens: 119, audio_tokens: 13, image_tokens: 0, cached_tokens: 64 },
        cached_tokens_details: { text_tokens: 64, audio_tokens: 0, image_tokens: 0 },
      },
      output_token_details: { text_tokens: 30, audio_tokens: 91 },
    },
    nano: (119 - 64) * 4000 + 64 * 400 + 13 * 32_000 + 30 * 16_000 + 91 * 64_000,
  },
  {
    usage: {
      ...{ total_tokens: 2050, input_tokens: 2000, output_tokens: 50 },
      input_token_details: {
        ...{ text_tokens: 500, audio_tokens: 700, image_tokens: 800, cached_tokens: 1500 },
        cached_tokens_details: { text_tokens: 400, audio_tokens: 500, image_tokens: 600 },
      },
      output_token_details: { text_tokens: 50, audio_tokens: 0 },
    },
    nano: 100 * 4000 + 400 * 400 + 200 * 32_000 + 500 * 400 + 200 * 5000 + 600 * 500 + 50 * 16_000,
  },
]

it('costs each turn to the nano-dollar, once, with what was cached of sound and images', async () => {
  const provider = await startSocketProvider()
  opened.push(provider)
  const plane = await startDataPlane({ providers: [{ kind: 'openai', baseUrl: `${provider.baseUrl}/v1` }] })
  opened.push(plane)
  plane.tell({ type: 'prices', prices: { revision: 1, prices: [price] } })
  await plane.hear('has')
  const headers = { authorization: `Bearer ${plane.key}` }
  const [client, { end: far }] = await Promise.all([
    dial(`${plane.baseUrl}/v1/realtime?model=openai-model`, { headers }),
    provider.accepted(),
  ])
  for (const [index, { usage }] of turns.entries()) {
    client.send({ type: 'response.create' })
    await far.next()
    const response = { id: `resp_${index}`, status: index === 0 ? 'cancelled' : 'completed', usage }
    // The end comes twice, as some providers repeat it.
    const frames = [
      { type: 'response.created', response: { id: response.id } },
      { type: 'response.done', response },
      { type: 'response.done', response },
    ]
    for (const frame of frames) far.send(frame)
    for (const _frame of frames) await client.next()
  }
  client.socket.close(1000)
  const record = await plane.record(client.requestId)
  expect(record.cost?.usd).toBe(turns.reduce((sum, { nano }) => sum + nano, 0) / 1e9)
  expect(record).toMatchObject({
    tokens: { input: 2132, output: 171, cache_read: 1564, source: 'reported' },
    usage_detail: { audio_input: 713, audio_cached: 500, audio_output: 91, image_input: 800, image_cached: 600 },
  })
})
