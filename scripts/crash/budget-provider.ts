import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from './random.ts'

/** What a request without a limit of its own gets at most. */
const longestAnswer = 400

/** A provider of OpenAI's kind on loopback that keeps to the limits of requests, and reports what it used. */
export class BudgetProvider {
  readonly #random: Random
  readonly #server = createServer((request, response) => {
    text(request)
      .then((body) => this.#answer(body, response))
      .catch(() => response.destroy())
  })

  constructor(random: Random) {
    this.#random = random
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(body: string, response: ServerResponse): Promise<void> {
    // Its free check lists the models.
    if (body === '') return sendJson(response, { object: 'list', data: [] })
    const { model, stream, max_completion_tokens } = JSON.parse(body) as Record<string, number | string | boolean>
    const most = typeof max_completion_tokens === 'number' ? max_completion_tokens : longestAnswer
    const output = this.#random.between(1, most + 1)
    const input = Math.floor(Buffer.byteLength(body) / 5)
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
    const answer = { id: 'chatcmpl-1', created: 1_700_000_000, model }
    await wait(this.#random.between(0, 30))
    if (stream !== true) {
      const message = { role: 'assistant', content: 'word '.repeat(output) }
      const choices = [{ index: 0, message, finish_reason: 'stop' }]
      return sendJson(response, { ...answer, object: 'chat.completion', choices, usage })
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const chunk = { ...answer, object: 'chat.completion.chunk' }
    const write = (data: object) => response.write(`data: ${JSON.stringify(data)}\n\n`)
    for (let written = 0; written < output && !response.destroyed; written++) {
      write({ ...chunk, choices: [{ index: 0, delta: { content: 'word ' } }], usage: null })
      if (written % 20 === 0) await wait(this.#random.between(0, 10))
    }
    write({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null })
    write({ ...chunk, choices: [], usage })
    response.end('data: [DONE]\n\n')
  }
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
