import http from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'
import { makeRoute, makeTarget } from '../support/snapshot.ts'

let provider: http.Server
let plane: DataPlane
const got: { type: string | undefined; body: string }[] = []

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    got.push({ type: request.headers['content-type'], body })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[],"content":[],"candidates":[]}')
  })
  const origin = await listen(provider)
  plane = await startDataPlane({
    providers: [
      { kind: 'openai', baseUrl: `${origin}/v1` },
      { kind: 'anthropic', baseUrl: origin },
    ],
    routes: [makeRoute('renamed', [makeTarget('openai:upstream')])],
  })
})

afterAll(async () => {
  await plane.stop()
  provider.close()
})

beforeEach(() => {
  got.length = 0
})

async function post(
  body: string | Buffer,
  { type = 'application/json', path = '/v1/chat/completions' }: { type?: string | null; path?: string } = {},
) {
  const headers: Record<string, string> = { authorization: `Bearer ${plane.key}` }
  if (type !== null) headers['content-type'] = type
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const request = http.request(plane.baseUrl + path, { method: 'POST', headers, agent: false }, async (response) => {
    let text = ''
    for await (const chunk of response) text += chunk
    resolve({ status: response.statusCode ?? 0, text })
  })
  request.on('error', reject).end(body)
  return promise
}

const good = '{"model":"openai-model","messages":[]}'
const filler = `"x":"${'a'.repeat(70_000)}"`

describe('a JSON body', () => {
  it.each([
    'application/json; charset=utf-7',
    'application/json; charset="UTF-16LE"',
    'application/json;charset=utf-8;charset=utf-7',
    'application/json; charset=shift_jis',
    'application/json; CHARSET = IBM037',
    'text/plain; charset=gb18030',
  ])('that is said to be %s is refused', async (type) => {
    const { status, text } = await post(good, { type })
    expect([status, got.length]).toEqual([400, 0])
    expect(text).toContain('UTF-8')
  })

  it.each([
    ['UTF-16', Buffer.from(good, 'utf16le')],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${good}`, 'utf16le')],
    ['UTF-32', Buffer.from([...good].flatMap((letter) => [0, 0, 0, letter.charCodeAt(0)]))],
    ['UTF-7', '+AHsAIg-model+ACI-:+ACI-openai-model+ACIAfQ-'],
    ['UTF-8 with a mark', `\ufeff${good}`],
  ])('in %s without a word is refused', async (_name, body) => {
    expect([(await post(body)).status, got.length]).toEqual([400, 0])
  })

  it.each([
    'application/json; charset=utf-8',
    'application/json;charset=UTF8',
    'application/vnd.x+json',
    'application/json; charset=iso-8859-1',
  ])('that is said to be %s passes as that', async (type) => {
    expect((await post(good, { type })).status).toBe(200)
    expect(got).toEqual([{ type, body: good }])
  })

  it.each([
    'application/x-www-form-urlencoded',
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    null,
  ])('that is said to be %s goes up as the JSON that it was read as', async (type) => {
    const body = '{"model":"openai-model","messages":[],"x":"&model=other&y="}'
    expect((await post(body, { type })).status).toBe(200)
    expect(got).toEqual([{ type: 'application/json', body }])
  })
})

describe('a name', () => {
  it.each([
    ['{"model":"openai-model","model":"other","messages":[]}', 'model'],
    ['{"model":"openai-model","mod\\u0065l":"other","messages":[]}', 'model'],
    ['{"model":"openai-model","stream":false,"stream":true,"messages":[]}', 'stream'],
  ])('that parsers read in two ways is refused: %.60s', async (body, name) => {
    const { status, text } = await post(body)
    expect([status, got.length]).toEqual([400, 0])
    expect(text).toContain(`\`${name}\` is given twice`)
  })

  it('on the Anthropic lane too', async () => {
    const body = '{"model":"anthropic-model","Model":"other","max_tokens":1,"messages":[]}'
    expect([(await post(body, { path: '/v1/anthropic/v1/messages' })).status, got.length]).toEqual([400, 0])
  })

  it.each([
    ['{"Model":"openai-model","messages":[]}', 'Model', 'model'],
    ['{"model":"openai-model","Model":"openai-model","messages":[]}', 'Model', 'model'],
    ['{"MODEL":"other","model":"openai-model","messages":[]}', 'MODEL', 'model'],
    ['{"model":"openai-model","\\u004dodel":"other","messages":[]}', 'Model', 'model'],
    [`{"model":"openai-model",${filler},"MoDeL":"other","messages":[]}`, 'MoDeL', 'model'],
    ['{"model":"openai-model","Stream":false,"messages":[]}', 'Stream', 'stream'],
    ['{"model":"openai-model","\u017ftream":true,"messages":[]}', '\u017ftream', 'stream'],
    ['{"model":"openai-model","\\u017ftream":true,"messages":[]}', '\u017ftream', 'stream'],
    ['{"model":"openai-model","max_to\u212aens":9,"messages":[]}', 'max_to\u212aens', 'max_tokens'],
    ['{"model":"openai-model","STREAM_OPTIONS":null,"messages":[]}', 'STREAM_OPTIONS', 'stream_options'],
  ])('that decides something is refused in other letters: %.60s', async (body, written, meant) => {
    const { status, text } = await post(body)
    expect([status, got.length]).toEqual([400, 0])
    expect(JSON.parse(text).error).toMatchObject({
      param: meant,
      message: `\`${written}\` must be written \`${meant}\`: servers disagree whether it is the same.`,
    })
  })

  it.each([
    '{"model":"openai-model","Messages":[],"messages":[],"Temperature":1}',
    '{"model":"openai-model","messages":[],"tools":[{"function":{"parameters":{"properties":{"Model":{},"File_ID":{}}}}}]}',
    '{"model":"openai-model","messages":[],"\u017f":1,"\u212aey":2,"modèl":3}',
  ])('that decides nothing passes: %.60s', async (body) => {
    expect((await post(body)).status).toBe(200)
    expect(got[0]?.body).toBe(body)
  })
})
