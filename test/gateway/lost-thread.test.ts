import http from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'

let provider: http.Server
let plane: DataPlane
/** What the provider was asked. */
const asked: { thread?: { type: string }; messages: unknown[] }[] = []

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    asked.push(JSON.parse(body))
    const message = {
      ...{ id: `msg_${asked.length}`, type: 'message', role: 'assistant', model: 'm', stop_reason: 'end_turn' },
      ...{ content: [{ type: 'text', text: 'Hi' }], usage: { input_tokens: 3, output_tokens: 2 } },
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
  })
  const baseUrl = await listen(provider)
  plane = await startDataPlane({ providers: [{ kind: 'anthropic', baseUrl }] })
  plane.ownNothing()
})

afterAll(async () => {
  await plane.stop()
  provider.close()
})

it('is replayed by the SDK under a new thread, since the gateway says so as the provider does', async () => {
  const client = new Anthropic({ apiKey: plane.key, baseURL: `${plane.baseUrl}/v1/anthropic`, maxRetries: 0 })
  const thread = client.beta.messages.thread({ model: 'anthropic-model', max_tokens: 9 })
  await thread.send({ role: 'user', content: 'one' })
  // The index knows no such thread any more.
  await thread.send({ role: 'user', content: 'two' })
  expect(asked.map(({ thread, messages }) => [thread?.type, messages.length])).toEqual([
    ['create', 1],
    ['create', 3],
  ])
  const [, lost, replayed] = plane.records()
  expect([lost?.status, lost?.error?.code, lost?.attempts.length]).toEqual([404, 'object_not_found', 0])
  expect(replayed).toMatchObject({ status: 200, error: null })
})
