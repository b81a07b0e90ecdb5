import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import type { Random } from './random.ts'

/** What a request without a limit of its own gets at most. */
export const longestAnswer = 400

interface Asked {
  model?: string
  stream?: boolean
  max_completion_tokens?: number
  max_output_tokens?: number
  max_tokens?: number
}

/** What an answer holds, whole and as events, in the form of its call. */
interface Form {
  whole(output: number, usage: Usage): object
  event(index: number): string
  end(usage: Usage): string
}

interface Usage {
  input: number
  output: number
}

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const named = (value: Record<string, unknown> & { type: string }) => `event: ${value.type}\n${data(value)}`
const words = (output: number) => 'word '.repeat(output)
const openaiUsage = ({ input, output }: Usage) => ({
  ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
})
const chat = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'priced' }
const responsesUsage = ({ input, output }: Usage) => ({
  ...{ input_tokens: input, output_tokens: output, total_tokens: input + output },
})
const response = { id: 'resp_1', object: 'response', status: 'completed', model: 'priced', store: false }
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude' }

const forms: Record<string, Form> = {
  '/v1/chat/completions': {
    whole: (output, usage) => ({
      ...{ ...chat, object: 'chat.completion', usage: openaiUsage(usage) },
      choices: [{ index: 0, message: { role: 'assistant', content: words(output) }, finish_reason: 'stop' }],
    }),
    event: () =>
      data({ ...chat, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'word ' } }] }),
    end: (usage) =>
      `${data({ ...chat, object: 'chat.completion.chunk', choices: [], usage: openaiUsage(usage) })}data: [DONE]\n\n`,
  },
  '/v1/completions': {
    whole: (output, usage) => ({
      ...{ ...chat, object: 'text_completion', usage: openaiUsage(usage) },
      choices: [{ index: 0, text: words(output), finish_reason: 'stop' }],
    }),
    event: () => data({ ...chat, object: 'text_completion', choices: [{ index: 0, text: 'word ' }] }),
    end: (usage) =>
      `${data({ ...chat, object: 'text_completion', choices: [], usage: openaiUsage(usage) })}data: [DONE]\n\n`,
  },
  '/v1/embeddings': {
    whole: (_output, { input }) => ({
      ...{ object: 'list', model: 'priced', usage: { prompt_tokens: input, total_tokens: input } },
      data: [{ object: 'embedding', index: 0, embedding: [0.1] }],
    }),
    event: () => '',
    end: () => '',
  },
  '/v1/responses': {
    whole: (output, usage) => ({
      ...{ ...response, usage: responsesUsage(usage) },
      output: [{ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text: words(output) }] }],
    }),
    event: (index) => named({ type: 'response.output_text.delta', sequence_number: index, delta: 'word ' }),
    end: (usage) => named({ type: 'response.completed', response: { ...response, usage: responsesUsage(usage) } }),
  },
  '/v1/messages': {
    whole: (output, usage) => ({
      ...{ ...message, stop_reason: 'end_turn', usage: { input_tokens: usage.input, output_tokens: usage.output } },
      content: [{ type: 'text', text: words(output) }],
    }),
    event: (index) =>
      index === 0
        ? named({
            type: 'message_start',
            message: { ...message, content: [], usage: { input_tokens: 1, output_tokens: 1 } },
          }) + named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
        : named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'word ' } }),
    end: ({ input, output }) =>
      named({ type: 'content_block_stop', index: 0 }) +
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: input, output_tokens: output },
      }) +
      named({ type: 'message_stop' }),
  },
}

/** A provider on loopback of OpenAI's and Anthropic's kind that keeps to the limits of requests, and reports what it used. */
export class BudgetProvider {
  readonly #random: Random
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy())
  })

  constructor(random: Random) {
    this.#random = random
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const form = forms[request.url ?? '']
    // Its free check lists the models.
    if (body === '' || form === undefined) return sendJson(response, { object: 'list', data: [] })
    const { stream, max_completion_tokens, max_output_tokens, max_tokens } = JSON.parse(body) as Asked
    const most = max_completion_tokens ?? max_output_tokens ?? max_tokens ?? longestAnswer
    const output = this.#random.between(1, most + 1)
    const usage = { input: Math.floor(Buffer.byteLength(body) / 5), output }
    await wait(this.#random.between(0, 30))
    if (stream !== true) return sendJson(response, form.whole(output, usage))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let written = 0; written < output && !response.destroyed; written++) {
      response.write(form.event(written))
      if (written % 20 === 0) await wait(this.#random.between(0, 10))
    }
    response.end(form.end(usage))
  }
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
