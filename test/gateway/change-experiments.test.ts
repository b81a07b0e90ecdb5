import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { bundleChanged, type SourceChange } from '../support/changed-sources.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { closeServer, listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

/** What it takes to add something to the data plane: the changes below, made in a copy. Everything else must follow from them. */

const models = 'src/lanes/openai/endpoints/models.ts'
const firstRow = "  row('embeddings', 'POST /embeddings',"

/** One row. */
const endpoint: SourceChange[] = [
  { file: models, from: firstRow, to: `  row('rerank', 'POST /rerank', { model: 'body', ...counted }),\n${firstRow}` },
]

/** The name, the codec in its list, and what each table of the formats says of it: the compiler asks for a row in every one. */
const codec: SourceChange[] = [
  { file: 'src/core/format.ts', from: "'generate'] as const", to: "'generate', 'plain'] as const" },
  { file: 'src/core/format.ts', from: "generate: 'gemini',\n}", to: "generate: 'gemini',\n  plain: 'openai',\n}" },
  {
    file: models,
    from: firstRow,
    to: `  row('plain', 'POST /plain', {
      format: 'plain', model: 'body', requestForms: json, stream: 'sse',
      inspect: inspectJson({}), reader: readChat, references: findNoReferences,
    }),\n${firstRow}`,
  },
  {
    file: 'src/translate/index.ts',
    from: 'generate: generateCodec,',
    to: 'generate: generateCodec,\n  plain: plainCodec,',
  },
  {
    file: 'src/translate/index.ts',
    from: "import { responsesCodec } from './responses/codec.ts'",
    to: "import { responsesCodec } from './responses/codec.ts'\nimport { plainCodec } from '../../test/support/plain-codec.ts'",
  },
  { file: 'src/translate/losses.ts', from: 'generate: generateFields,', to: 'generate: generateFields,\n  plain: {},' },
  {
    file: 'src/translate/own-reasoning.ts',
    from: "generate: 'gemini',\n}",
    to: "generate: 'gemini',\n  plain: 'openai',\n}",
  },
  {
    file: 'src/translate/plain-turns.ts',
    from: "  generate: { list: 'contents',",
    to: "  plain: { list: '', pairs: [] },\n  generate: { list: 'contents',",
  },
]

interface Seen {
  path: string
  body: Record<string, unknown>
}

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'changed-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 }
const message = { role: 'assistant', content: 'Hello.' }
const answers: Record<string, object> = {
  '/v1/rerank': { results: [], usage: { prompt_tokens: 7, total_tokens: 7 } },
  '/v1/plain': { id: 'p1', model: 'small', said: 'Hello.', usage },
  '/v1/chat/completions': {
    id: 'c1',
    model: 'small',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  },
}
const streamed = [
  { id: 'c1', model: 'small', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' } }] },
  { id: 'c1', model: 'small', choices: [{ index: 0, delta: { content: 'lo.' } }] },
  { id: 'c1', model: 'small', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { id: 'c1', model: 'small', choices: [], usage },
]

/** A provider of the kind `openai`, which has the two formats that are there today, and a data plane in front of it. */
async function start(changes: readonly SourceChange[] | null): Promise<{ plane: DataPlane; seen: Seen[] }> {
  const seen: Seen[] = []
  const server = http.createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const path = request.url ?? ''
    const body: Seen['body'] = JSON.parse(text)
    seen.push({ path, body })
    if (body.stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(answers[path]))
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(
      [...streamed.map((event) => JSON.stringify(event)), '[DONE]'].map((data) => `data: ${data}\n\n`).join(''),
    )
  })
  onTestFinished(() => closeServer(server))
  const baseUrl = `${await listen(server)}/v1`
  const thread =
    changes === null
      ? {}
      : { thread: await bundleChanged('src/gateway/thread/thread.ts', changes, directory, 'thread') }
  // No format of today: the route says which its target has.
  const plain = { ...makeTarget('openai:small'), format: 'plain' }
  const plane = await startDataPlane({
    providers: [{ kind: 'openai', baseUrl }],
    routes: [
      makeRoute('to-plain', [plain as ReturnType<typeof makeTarget>], { retries: 0 }),
      makeRoute('to-chat', [makeTarget('openai:small')], { retries: 0 }),
    ],
    ...thread,
  })
  onTestFinished(() => plane.stop())
  return { plane, seen }
}

async function ask(plane: DataPlane, path: string, body: object) {
  const answer = await fetch(plane.baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${plane.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: answer.status, text: await answer.text(), id: answer.headers.get('x-sp-request-id') }
}

describe('a new endpoint', () => {
  it('is served, routed, read and recorded by its row', async () => {
    const { plane, seen } = await start(endpoint)
    const { status, text, id } = await ask(plane, '/v1/rerank', { model: 'openai-model', query: 'x', documents: ['y'] })
    expect([status, JSON.parse(text)]).toEqual([200, answers['/v1/rerank']])
    expect(seen).toEqual([{ path: '/v1/rerank', body: { model: 'openai-model', query: 'x', documents: ['y'] } }])
    expect(await plane.record(id)).toMatchObject({
      operation: 'rerank',
      model: 'openai-model',
      tokens: { input: 7, source: 'reported' },
    })
  })

  it('is unknown without it', async () => {
    const { plane, seen } = await start(null)
    expect(await ask(plane, '/v1/rerank', { model: 'openai-model' })).toMatchObject({ status: 404 })
    expect(seen).toEqual([])
  })
})

describe('a new format', () => {
  it('changes nothing of the pipeline', () => {
    expect(codec.filter(({ file }) => /^src\/(?:gateway|routing|policy|providers)\//.test(file))).toEqual([])
  })

  it('is what clients may ask in and providers may have, by its codec', async () => {
    const { plane, seen } = await start(codec)
    const chat = { model: 'to-plain', messages: [{ role: 'user', content: 'Hi' }] }
    const asked = await ask(plane, '/v1/chat/completions', chat)
    expect(seen.splice(0)).toEqual([{ path: '/v1/plain', body: { model: 'small', say: 'Hi' } }])
    expect(JSON.parse(asked.text)).toMatchObject({ choices: [{ message, finish_reason: 'stop' }] })

    const given = await ask(plane, '/v1/plain', { model: 'to-chat', say: 'Hi' })
    expect(seen.splice(0)).toMatchObject([{ path: '/v1/chat/completions', body: { messages: [{ content: 'Hi' }] } }])
    expect([given.status, JSON.parse(given.text)]).toMatchObject([200, { said: 'Hello.' }])
    expect(await plane.record(given.id)).toMatchObject({ operation: 'plain', tokens: { input: 7, output: 2 } })

    const stream = await ask(plane, '/v1/plain', { model: 'to-chat', say: 'Hi', stream: true })
    expect(stream.text).toBe('data: {"said":"Hel"}\n\ndata: {"said":"lo."}\n\ndata: [DONE]\n\n')
  })
})
