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

function chunk(delta: object, reason: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: reason }]
  const event = {
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'bench',
    choices,
  }
  return `data: ${JSON.stringify(event)}\n\n`
}

const content = chunk({ content: ' the quick brown fox' })
const usage = { prompt_tokens: 57, completion_tokens: 61, total_tokens: 118 }
const last = `${chunk({}, 'stop')}data: ${JSON.stringify({ id: 'chatcmpl-bench', choices: [], usage })}\n\ndata: [DONE]\n\n`

function answer(path: string, model: string, response: ServerResponse): void {
  const [, count, pace] = /^bench-(?:stream-(\d+)|open)-(\d+)/.exec(model) ?? []
  if (pace !== undefined) return stream(response, Number(count ?? Number.POSITIVE_INFINITY), Number(pace))
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
  response.writeHead(200, type).end(JSON.stringify(wholes.find(([part]) => path.includes(part))?.[1]))
}

function stream(response: ServerResponse, count: number, pace: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(chunk({ role: 'assistant', content: '' }))
  let left = count
  const next = () => {
    if (--left > 0) return void response.write(content)
    clearInterval(timer)
    response.end(content + last)
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
