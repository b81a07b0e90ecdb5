import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'

/** Larger than what is held of a stream without reserving memory. */
const png = `iVBORw0KGgo${'A'.repeat(1_500_000)}=`

const server = createServer((request, response) => {
  const parts = [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: png } }]
  const answer = { responseId: 'made', modelVersion: 'gemini-2.5-flash-image' }
  const candidate = { index: 0, content: { role: 'model', parts } }
  const whole = JSON.stringify({ ...answer, candidates: [{ ...candidate, finishReason: 'STOP' }] })
  const streamed = request.url?.includes('streamGenerateContent') === true
  response.writeHead(200, { 'content-type': streamed ? 'text/event-stream' : 'application/json' })
  request.resume().on('end', () => response.end(streamed ? `data: ${whole}\n\n` : whole))
})

let gateway: TestGateway
let key: string

beforeAll(async () => {
  await listen(server)
  gateway = await startGateway()
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await gateway.admin.providers.add({ name: 'gemini', kind: 'gemini', baseUrl, credential: 'x', skipCheck: true })
  await gateway.addRoute('painter', ['gemini:gemini-2.5-flash-image'])
  key = (await gateway.createKey('ci')).key
})
afterAll(async () => {
  await gateway.stop()
  server.closeAllConnections()
  server.close()
})

const client = () => new OpenAI({ apiKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })

async function newestLosses(): Promise<readonly string[] | undefined> {
  const [newest] = await gateway.admin.requests.list({ limit: 1 })
  return (await gateway.record(newest?.id ?? '')).losses
}

it.each([false, true])("OpenAI's SDK gets an image that Gemini made (streamed: %s)", async (stream) => {
  const body = { model: 'painter', input: 'Paint.' }
  const { output, output_text } = stream
    ? await client().responses.stream(body).finalResponse()
    : await client().responses.create(body)
  expect(output_text).toBe('Here.')
  expect(output[1]).toMatchObject({ type: 'image_generation_call', status: 'completed', output_format: 'png' })
  expect(output[1]?.type === 'image_generation_call' && output[1].result === png).toBe(true)
  expect(await newestLosses()).toEqual([])
})

it.each([false, true])('a client of chat has no place for it, which its record says (streamed: %s)', async (stream) => {
  const body = { model: 'painter', messages: [{ role: 'user' as const, content: 'Paint.' }] }
  const { choices } = stream
    ? await client().chat.completions.stream(body).finalChatCompletion()
    : await client().chat.completions.create(body)
  expect(choices[0]?.message.content).toBe('Here.')
  expect(await newestLosses()).toEqual(['answer.inlineData'])
})
