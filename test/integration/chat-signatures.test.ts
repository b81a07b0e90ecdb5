import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'

type Vendor = 'google' | 'openrouter'

const details = [{ type: 'reasoning.encrypted', data: 'c2VhbGVk', format: 'google-gemini-v1', index: 0 }]
const signedBy = (vendor: Vendor) => ({
  call: vendor === 'google' ? { extra_content: { google: { thought_signature: 'c2VhbGVk' } } } : {},
  message: vendor === 'google' ? {} : { reasoning_details: details },
})

let vendor: Vendor
let dataDirectory: string

/** As Gemini 3 behind a server with chat: a call whose signature does not come back is refused. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { messages, stream } = JSON.parse(Buffer.concat(chunks).toString())
    const signed = signedBy(vendor)
    const said = messages.find(({ role }: { role: string }) => role === 'assistant')
    if (said !== undefined && !JSON.stringify(said).includes('c2VhbGVk')) {
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'Function call is missing a thought_signature.' } }))
      return
    }
    const called = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
    const message = said === undefined ? { tool_calls: [{ ...called, ...signed.call }] } : { content: 'done' }
    const head = { id: 'chatcmpl-00000001', model: 'gemini-3-pro', created: 1 }
    const finish_reason = said === undefined ? 'tool_calls' : 'stop'
    response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
    if (!stream) {
      const whole = {
        index: 0,
        finish_reason,
        message: { role: 'assistant', content: null, ...message, ...signed.message },
      }
      response.end(JSON.stringify({ ...head, object: 'chat.completion', choices: [whole] }))
      return
    }
    const deltas = [message, signed.message].map((delta) => ({ index: 0, delta }))
    for (const choice of [...deltas, { index: 0, delta: {}, finish_reason }])
      response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [choice] })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
})

beforeEach(async () => {
  dataDirectory = mkdtempSync(join(tmpdir(), 'chat-signatures-'))
  await listen(server)
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dataDirectory, { recursive: true, force: true })
})

const options = () => ({ dataDirectory, config: 'gateway:\n  workers: 2\n' })

it.each<[Vendor, boolean]>([
  ['google', false],
  ['google', true],
  ['openrouter', false],
  ['openrouter', true],
])(
  'brings %s its signatures back for a client of Responses that does not, after a kill (streamed: %s)',
  async (who, stream) => {
    vendor = who
    const first = await startGateway(options())
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const place = { name: 'chat', kind: 'openai-compatible', baseUrl: `${origin}/v1`, credential: 'sk-x' } as const
    await first.admin.providers.add({ ...place, skipCheck: true })
    await first.addRoute('thinker', ['chat:google/gemini-3-pro'])
    const { key } = await first.createKey('ci')
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: 'look' }]
    const ask = async (gateway: TestGateway) => {
      const client = new OpenAI({ apiKey: key, baseURL: `${gateway.baseUrl}/v1`, maxRetries: 0 })
      const tools = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }]
      const body = { model: 'thinker', input, tools }
      return stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body)
    }
    const { output } = await ask(first)
    expect(output).toMatchObject([{ type: 'function_call', call_id: 'call_1' }])
    input.push({ type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' })
    input.push({ type: 'function_call_output', call_id: 'call_1', output: 'blue' })
    await first.kill('SIGKILL')

    const second = await startGateway(options())
    try {
      expect((await ask(second)).output_text).toBe('done')
      const [newest] = await second.admin.requests.list({ limit: 1 })
      expect((await second.record(newest?.id ?? '')).reasoning).toBe('attached')
    } finally {
      await second.stop()
    }
  },
)
