import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What `mock.c` does, where no compiler is: the models and the lines that it prints are explained there. */
const words =
  'The quick brown fox jumps over the lazy dog and runs along the river bank until the evening comes. '.repeat(3)

const wholes: [pathPart: string, answer: object][] = [
  [
    '/messages',
    {
      id: 'msg_bench',
      type: 'message',
      role: 'assistant',
      model: 'bench',
      content: [{ type: 'text', text: words }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 57, output_tokens: 61 },
    },
  ],
  [
    ':generateContent',
    {
      candidates: [{ content: { parts: [{ text: words }], role: 'model' }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 57, candidatesTokenCount: 61, totalTokenCount: 118 },
      modelVersion: 'bench',
    },
  ],
  [
    '',
    {
      id: 'chatcmpl-bench',
      object: 'chat.completion',
      created: 1_760_000_000,
      model: 'bench',
      choices: [{ index: 0, message: { role: 'assistant', content: words }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 57, completion_tokens: 61, total_tokens: 118 },
    },
  ],
]

interface StreamFormat {
  start: string
  chunk: string
  end: string
}

const usage = { prompt_tokens: 57, completion_tokens: 61, total_tokens: 118 }
const answerHead = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'bench' }

function chatEvent(delta: object, reason: string | null = null): string {
  return `data: ${JSON.stringify({ ...answerHead, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
}

function messageEvent(type: string, more: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
}

function geminiEvent(text: string, reason: object = {}): string {
  const candidates = [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...reason }]
  const usageMetadata = { promptTokenCount: 57, candidatesTokenCount: 61, totalTokenCount: 118 }
  return `data: ${JSON.stringify({ candidates, usageMetadata, modelVersion: 'bench' })}\r\n\r\n`
}

const fewWords = ' the quick brown fox'
const chatStream: StreamFormat = {
  start: chatEvent({ role: 'assistant', content: '' }),
  chunk: chatEvent({ content: fewWords }),
  end: `${chatEvent({}, 'stop')}data: ${JSON.stringify({ ...answerHead, choices: [], usage })}\n\ndata: [DONE]\n\n`,
}
const messageStart = {
  ...{ id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench', content: [] },
  usage: { input_tokens: 57, output_tokens: 1 },
}
const streams: [pathPart: string, format: StreamFormat][] = [
  [
    '/messages',
    {
      start:
        messageEvent('message_start', { message: messageStart }) +
        messageEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      chunk: messageEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text: fewWords } }),
      end:
        messageEvent('content_block_stop', { index: 0 }) +
        messageEvent('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 61 } }) +
        messageEvent('message_stop'),
    },
  ],
  [
    ':streamGenerateContent',
    { start: geminiEvent(''), chunk: geminiEvent(fewWords), end: geminiEvent('', { finishReason: 'STOP' }) },
  ],
]

let flakyCalls = 0

function answer(path: string, model: string, response: ServerResponse): void {
  const [, count, pace] = /^bench-(?:stream-(\d+)|open)-(\d+)/.exec(model) ?? []
  if (pace !== undefined) {
    const format = streams.find(([part]) => path.includes(part))?.[1] ?? chatStream
    return stream(response, format, Number(count ?? Number.POSITIVE_INFINITY), Number(pace))
  }
  if (model.startsWith('bench-hang')) return
  if (model.startsWith('bench-head')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    return
  }
  const type = { 'content-type': 'application/json' }
  if (model.startsWith('bench-busy')) {
    response.writeHead(503, { ...type, 'retry-after': '1' }).end('{"error":{"message":"busy","type":"server_error"}}')
    return
  }
  if (model.startsWith('bench-flaky') && ++flakyCalls % 10 === 0) {
    response.writeHead(503, type).end('{"error":{"message":"busy","type":"server_error"}}')
    return
  }
  response.writeHead(200, type).end(JSON.stringify(wholes.find(([part]) => path.includes(part))?.[1]))
}

function stream(response: ServerResponse, format: StreamFormat, count: number, pace: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(format.start)
  let left = count
  const next = () => {
    if (--left > 0) return void response.write(format.chunk)
    clearInterval(timer)
    response.end(format.chunk + format.end)
  }
  const timer = setInterval(next, pace)
  response.once('close', () => clearInterval(timer))
  next()
}

function report(event: string, tag: string | undefined): void {
  if (tag !== undefined) process.stdout.write(`${event} ${tag} ${process.hrtime.bigint()}\n`)
}

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('latin1')
  request.on('data', (part: string) => (body += part))
  request.on('end', () => {
    const path = request.url ?? ''
    const model = /bench-[a-z0-9.-]+/.exec(`${path} ${body}`)?.[0] ?? ''
    const tag = /\.([a-z0-9-]+)$/.exec(model)?.[1]
    report('called', tag)
    response.once('close', () => response.writableFinished || report('closed', tag))
    answer(path, model, response)
  })
})
server.requestTimeout = 0
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.stdout.write(`listening ${(server.address() as AddressInfo).port}\n`))
