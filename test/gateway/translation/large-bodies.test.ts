import http from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../../support/data-plane.ts'
import { listen } from '../../support/listen.ts'
import { makeRoute, makeTarget } from '../../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
/** Bodies as they arrived, by what they say first. */
const arrived = new Map<string, string[]>()
let busy = 0

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = JSON.parse(Buffer.concat(chunks).toString()).messages[0].content[0].text as string
    const name = text.slice(0, text.indexOf(':'))
    arrived.set(name, [...(arrived.get(name) ?? []), text])
    response.setHeader('content-type', 'application/json')
    // Every third is to be asked once more.
    if (busy++ % 3 === 0) return response.writeHead(529).end('{"type":"error","error":{"type":"overloaded_error"}}')
    const content = [{ type: 'text', text: name }]
    const usage = { input_tokens: 1, output_tokens: 1 }
    response.end(
      JSON.stringify({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content,
        stop_reason: 'end_turn',
        usage,
      }),
    )
  })
  const baseUrl = await listen(provider)
  const routes = [makeRoute('large', [makeTarget('anthropic'), makeTarget('anthropic')], { retries: 2 })]
  plane = await startDataPlane({ providers: [{ kind: 'anthropic', baseUrl }], routes })
})
afterAll(async () => {
  await plane.stop()
  provider.closeAllConnections()
  provider.close()
})

/** Whole bodies in memory that is used again: of requests at once, one after another, and of each attempt. */
it('large translated requests arrive as they were, however many there are', async () => {
  const ask = async (name: string) => {
    const content = `${name}:${name.repeat(40_000)}ü`
    const answer = await fetch(`${plane.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'large', messages: [{ role: 'user', content }] }),
    })
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]?.message.content).toBe(name)
    expect(new Set(arrived.get(name))).toEqual(new Set([content]))
  }
  for (let round = 0; round < 3; round++)
    await Promise.all(Array.from({ length: 12 }, (_, index) => ask(`request ${round} ${index} `)))
  expect(busy).toBeGreaterThan(36)
})
