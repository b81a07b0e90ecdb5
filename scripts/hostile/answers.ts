import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { HostileCase } from './case.ts'
import type { Answer } from './provider.ts'
import { cut, fill, MB, values } from './shapes.ts'
import type { Call, Stage } from './stage.ts'

/** What a provider may answer: streams, whole answers, errors, lists and results, each so that reading it costs much. */

async function write(response: ServerResponse, bytes: string | Buffer, piece = 64 * 1024): Promise<void> {
  for (const chunk of cut(bytes, piece)) {
    if (response.destroyed) return
    if (!response.write(chunk)) await drained(response)
  }
  response.end()
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const over = () => {
      response.off('drain', over).off('close', over)
      resolve()
    }
    response.on('drain', over).on('close', over)
  })
}

function answering(
  type: string,
  make: () => string | Buffer,
  more: { piece?: number; status?: number; encoding?: string } = {},
): Answer {
  return async (response) => {
    const encoding = more.encoding === undefined ? {} : { 'content-encoding': more.encoding }
    response.writeHead(more.status ?? 200, { 'content-type': type, ...encoding })
    await write(response, make(), more.piece)
  }
}

async function ask(stage: Stage, answer: Answer, call: Call): Promise<string> {
  stage.provider.answer = answer
  return await stage.send(call)
}

const streamed: Record<string, Call> = {
  chat: { path: '/v1/chat/completions', body: '{"model":"openai-m","messages":[],"stream":true}' },
  responses: { path: '/v1/responses', body: '{"model":"openai-m","input":"x","stream":true}' },
  messages: {
    path: '/v1/anthropic/v1/messages',
    body: '{"model":"anthropic-m","max_tokens":9,"messages":[],"stream":true}',
  },
  generate: { path: '/v1/gemini/v1beta/models/gemini-m:streamGenerateContent?alt=sse', body: '{"contents":[]}' },
}

const size = 30 * MB
/** Of small events: their cost is that of what comes in one turn. */
const manyBytes = 4 * MB
const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"a"}}],"type":"ping","candidates":[]}\n\n'
/** Events that the readers look into: of each lane the member names that it reads. */
const inEvent = (json: string) =>
  `data: {"choices":[{"delta":{"content":"a"}}],"type":"message_start","usage":${json}}\n\n`

const events: Record<string, () => string> = {
  'small events': () => fill(manyBytes, chunk),
  'empty events': () => fill(manyBytes, 'data:\n\n'),
  'line ends': () => '\n'.repeat(size),
  'bare carriage returns': () => fill(manyBytes, 'data: {}\r\r'),
  comments: () => fill(manyBytes, ':\n\n'),
  'fields without a value': () => fill(manyBytes, 'data\n'),
  'lines of one event': () => `${fill(manyBytes, 'data: {}\n')}\n`,
  'one line': () => `data: "${'a'.repeat(size)}"\n\n`,
  'an event name': () => `event: ${'a'.repeat(size)}\ndata: {}\n\n`,
  ...Object.fromEntries(
    ['escaped keys', 'objects of many keys', 'deep', 'one text of escapes', 'numbers'].map((name) => [
      `events with ${name}`,
      () => fill(10 * MB, inEvent(values[name]?.(900_000) ?? '')),
    ]),
  ),
  'one event with many keys': () => inEvent(values['escaped keys']?.(size) ?? ''),
}

const streams = Object.entries(events).flatMap(([name, make]) =>
  Object.entries(streamed).map(
    ([lane, call]): HostileCase => ({
      area: `stream, ${lane}`,
      name,
      sample: lane === 'chat' && name === 'events with escaped keys',
      run: (stage) => ask(stage, answering('text/event-stream', make), call),
    }),
  ),
)

const whole: Record<string, Call> = {
  chat: { path: '/v1/chat/completions', body: '{"model":"openai-m","messages":[]}' },
  messages: { path: '/v1/anthropic/v1/messages', body: '{"model":"anthropic-m","max_tokens":9,"messages":[]}' },
  generate: { path: '/v1/gemini/v1beta/models/gemini-m:generateContent', body: '{"contents":[]}' },
}
const wholeAnswers = Object.keys(values).flatMap((name) => {
  const json = (bytes: number) => () => `{"id":"a","choices":${values[name]?.(bytes)},"usage":${values[name]?.(bytes)}}`
  return [
    ...Object.entries(whole).map(
      ([lane, call]): HostileCase => ({
        area: `whole answer, ${lane}`,
        name,
        run: (stage) => ask(stage, answering('application/json', json(7 * MB)), call),
      }),
    ),
    {
      area: 'error of a provider',
      name,
      run: (stage: Stage) =>
        ask(stage, answering('application/json', json(500_000), { status: 400 }), whole.chat as Call),
    },
    {
      area: 'answer that is kept, masked',
      name,
      run: (stage: Stage) =>
        ask(stage, answering('application/json', json(6 * MB)), { ...(whole.chat as Call), captured: true }),
    },
    {
      area: 'list of objects',
      name,
      run: (stage: Stage) =>
        ask(
          stage,
          answering('application/json', () => `{"object":"list","data":${values[name]?.(8 * MB)},"has_more":true}`),
          { path: '/v1/files', method: 'GET' },
        ),
    },
  ]
})

const items = (one: string) => () => `{"object":"list","data":[${fill(12 * MB, `${one},`)}${one}],"has_more":true}`
const lists: Record<string, [call: Call, make: () => string]> = {
  'many files': [{ path: '/v1/files', method: 'GET' }, items('{"id":"file-a","object":"file"}')],
  'many batches': [{ path: '/v1/batches', method: 'GET' }, items('{"id":"batch_a","object":"batch"}')],
  'ids with escapes': [{ path: '/v1/files', method: 'GET' }, items('{"id":"\\u0066ile-a"}')],
  'many models': [
    { path: '/v1/gemini/v1beta/files', method: 'GET' },
    () => `{"files":[${fill(12 * MB, '{"name":"files/a"},')}{}]}`,
  ],
}
const listCases = Object.entries(lists).map(
  ([name, [call, make]]): HostileCase => ({
    area: 'list of objects',
    name,
    run: (stage) => ask(stage, answering('application/json', make), call),
  }),
)

const resultLine = (inner: string) => `{"custom_id":"1","response":{"body":{"model":"m","usage":${inner}}}}\n`
const results: Record<string, () => string> = {
  'many lines': () => fill(size, resultLine('{"prompt_tokens":1}')),
  'empty lines': () => '\n'.repeat(size),
  'lines of many keys': () => fill(size, resultLine(values['escaped keys']?.(3 * MB) ?? '')),
  'deep lines': () => fill(size, resultLine(values.deep?.(3 * MB) ?? '')),
  'one line': () => resultLine(`"${'x'.repeat(size)}"`),
}
const resultCases = Object.entries(results).map(
  ([name, make], at): HostileCase => ({
    area: 'results of a batch',
    name,
    run: async (stage) => {
      const file = `file-results-${at}`
      const json = `{"id":"batch_${at}","object":"batch","status":"completed","output_file_id":"${file}"}`
      const json_file = `{"id":"file-in-${at}","object":"file"}`
      const boundary = 'b'
      const form = `--b\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n{"custom_id":"1","url":"/v1/responses","body":{"model":"openai-m","input":"x"}}\r\n--b--\r\n`
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}`, 'x-sp-provider': 'openai' }
      await ask(
        stage,
        answering('application/json', () => json_file),
        { path: '/v1/files', headers, body: form },
      )
      const body = `{"input_file_id":"file-in-${at}","endpoint":"/v1/responses","completion_window":"24h"}`
      const made = answering('application/json', () => json)
      await ask(stage, made, { path: '/v1/batches', body })
      await ask(stage, made, { path: `/v1/batches/batch_${at}`, method: 'GET' })
      const results = answering('application/octet-stream', make)
      return await ask(stage, results, { path: `/v1/files/${file}/content`, method: 'GET' })
    },
  }),
)

const json = (bytes: number) => `{"choices":${values['empty objects']?.(bytes)},"usage":{"prompt_tokens":1}}`
const odd: Record<string, Answer> = {
  'gzip of a large answer': answering('application/json', () => gzipSync(json(60 * MB)), { encoding: 'gzip' }),
  'brotli of a large answer': answering('application/json', () => brotliCompressSync(Buffer.alloc(40 * MB, 32)), {
    encoding: 'br',
  }),
  'gzip of a stream': answering('text/event-stream', () => gzipSync(fill(60 * MB, chunk)), { encoding: 'gzip' }),
  'many headers': (response) => {
    response.writeHead(
      200,
      Array.from({ length: 1800 }, (_, at) => (at % 2 === 0 ? `x-a${at}` : 'b')),
    )
    response.end('{}')
  },
  'single bytes': answering('text/event-stream', () => fill(100_000, chunk), { piece: 1 }),
  'another type': answering('text/html', () => fill(size, '<a>')),
}
const oddCases = Object.entries(odd).map(
  ([name, answer]): HostileCase => ({
    area: 'answer',
    name,
    run: (stage) =>
      ask(stage, answer, (name === 'single bytes' || name.includes('stream') ? streamed.chat : whole.chat) as Call),
  }),
)

export const answerCases: readonly HostileCase[] = [
  ...streams,
  ...wholeAnswers,
  ...listCases,
  ...resultCases,
  ...oddCases,
]
