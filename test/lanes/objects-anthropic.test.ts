import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/lanes/anthropic/lane.ts'
import type { Inspection, Match } from '../../src/lanes/contract.ts'
import { isFault } from '../../src/lanes/request-body.ts'

const { objects } = anthropic
const urls = { lane: 'https://gateway.example/v1/anthropic', provider: 'https://api.anthropic.com' }

function match(call: string): Match {
  const [method = '', path = ''] = call.split(' ')
  const found = anthropic.match(method, path)
  if (found === null) throw new Error(call)
  return found
}

function references(call: string, body: unknown): string[] {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const found = match(call).endpoint.references('', Buffer.from(text))
  return 'code' in found ? [found.code] : found.map(({ type, id }) => `${type} ${id}`)
}

const messages = 'POST /v1/messages'
const file = { type: 'document', source: { type: 'file', file_id: 'file_a' } }
const user = (...content: unknown[]) => ({ model: 'm', messages: [{ role: 'user', content }] })

describe('references', () => {
  it('too long for any object are looked up, and are no object', () => {
    const long = `file_${'a'.repeat(20_000)}`
    const content = user({ type: 'container_upload', file_id: long })
    expect(references(messages, { ...content, container: long })).toEqual([
      `container ${long.slice(0, 2048)}…`,
      `file ${long.slice(0, 2048)}…`,
    ])
  })

  it.each([
    ['a document', user(file), ['file file_a']],
    ['what is put into a container', user({ type: 'container_upload', file_id: 'file_b' }), ['file file_b']],
    ['what a tool gave back', user({ type: 'tool_result', content: [file] }), ['file file_a']],
    ['a container by its id', { ...user(), container: 'container_a' }, ['container container_a']],
    [
      'a container with skills',
      {
        ...user(),
        container: {
          id: 'container_b',
          skills: [
            { type: 'custom', skill_id: 'skill_1' },
            { type: 'anthropic', skill_id: 'xlsx' },
          ],
        },
      },
      ['container container_b', 'skill skill_1'],
    ],
    ['a conversation', { ...user(), thread: { type: 'continue', previous_message_id: 'msg_1' } }, ['thread msg_1']],
    ['none', { ...user('file_id'), diagnostics: { previous_message_id: 'msg_1' } }, []],
    ['a tool’s own fields', user({ type: 'tool_use', input: { file_id: 'x', container: 'y' } }), []],
    ['a citation', user({ type: 'text', text: 'x', citations: [{ file_id: 'file_a' }] }), []],
  ])('%s', (_what, body, expected) => {
    expect(references(messages, body).sort()).toEqual(expected)
    const batch = { requests: [{ custom_id: '1', params: body }] }
    expect(references('POST /v1/messages/batches', batch).sort()).toEqual(expected)
  })

  it('finds a member however its name is written, and both of two', () => {
    expect(references(messages, '{"model":"m","contai\\u006eer":"c"}')).toEqual(['container c'])
    const twice = '{"model":"m","system":[{"file_id":"a","file_id":"b"}]}'
    expect(references(messages, twice).sort()).toEqual(['file a', 'file b'])
    const odd =
      '{"model":"m","Container":"c","system":[{"FILE_ID":"a"},{"\u017fkill_id":"skill_1"}],"Metadata":{"file_id":"b"}}'
    expect(references(messages, odd).sort()).toEqual(['container c', 'file a', 'file b', 'skill skill_1'])
    const thread = '{"model":"m","Thread":{"Previous_Message_ID":"msg_1"}}'
    expect(references(messages, thread)).toEqual(['thread msg_1'])
  })
})

describe('told', () => {
  const told = (call: string, answer: unknown, stores = true) =>
    match(call).endpoint.createdObjects(match(call), { stores } as Inspection, answer)

  it.each([
    ['POST /v1/messages/batches', 'batch'],
    ['POST /v1/files', 'file'],
    ['POST /v1/skills', 'skill'],
    [messages, 'thread'],
  ])('%s makes a %s', (call, type) => {
    expect(told(call, { id: 'x' })).toEqual([{ type, id: 'x' }])
  })

  it('keeps no message without a thread', () => {
    const stores = (body: string) => {
      const found = match(messages).endpoint.inspect(match(messages), '', Buffer.from(body))
      return isFault(found) ? found : found.stores
    }
    expect(stores('{"model":"m"}')).toBe(false)
    expect(stores('{"model":"m","thread":{"type":"create"}}')).toBe(true)
    expect(stores('{"model":"m","tools":[{"name":"code_execution"}]}')).toBe(false)
    expect(stores('{"model":"m","tools":[{"type":"code_execution_20250825"}]}')).toBe(true)
    expect(told(messages, { id: 'x' }, false)).toEqual([])
  })
})

describe('what tools leave', () => {
  const container = { id: 'container_1', expires_at: 'x' }
  const result = {
    type: 'bash_code_execution_tool_result',
    content: {
      type: 'bash_code_execution_result',
      content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
    },
  }
  const open = (body: string) => {
    const found = match(messages).endpoint.inspect(match(messages), '', Buffer.from(body))
    if (isFault(found)) throw new Error(found.message)
    return match(messages).endpoint.reader(found, { renameTo: null, askForUsage: false })
  }
  const left = [
    { type: 'container', id: 'container_1' },
    { type: 'file', id: 'file_1' },
  ]

  it('is seen in a whole answer', () => {
    const reader = open('{"model":"m"}')
    reader.body(Buffer.from(JSON.stringify({ id: 'm1', container, content: [{ type: 'text', text: 'x' }, result] })))
    expect(reader.seen().objects).toEqual(left)
  })

  it('is seen in a stream', () => {
    const reader = open('{"model":"m","stream":true}')
    const tell = (name: string, data: object) => {
      const bytes = Buffer.from(JSON.stringify({ type: name, ...data }))
      reader.event({ bytes, name, data: bytes, part: 'whole' })
    }
    tell('message_start', { message: { id: 'm1', container: null } })
    tell('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
    tell('content_block_start', { index: 1, content_block: result })
    tell('message_delta', { delta: { stop_reason: 'end_turn', container } })
    expect(reader.seen().objects).toEqual(left.toReversed())
  })
})

describe('batches', () => {
  const inspect = (body: unknown) =>
    match('POST /v1/messages/batches').endpoint.inspect(
      match('POST /v1/messages/batches'),
      '',
      Buffer.from(JSON.stringify(body)),
    )
  const requests = (...models: unknown[]) => ({ requests: models.map((model) => ({ params: { model } })) })

  it('have the one model of all their requests, and it is renamed in each', () => {
    const found = inspect(requests('a', 'a'))
    if (isFault(found)) throw new Error(found.message)
    expect(found.model).toBe('a')
    const body = Buffer.from(JSON.stringify(requests('a', 'a')))
    const renamed = anthropic.patchBody(body, found, { renameTo: 'b', askForUsage: false })
    expect(JSON.parse(renamed.toString())).toEqual(requests('b', 'b'))
  })

  it('name further ones, so many at most', () => {
    expect(inspect(requests('a', 'b', 'a'))).toMatchObject({ model: 'a', additionalModels: [{ name: 'b' }] })
    expect(inspect(requests(...Array.from({ length: 51 }, (_, index) => `${index}`)))).toMatchObject({
      code: 'invalid_request',
      param: 'requests',
    })
    expect(inspect(requests(7))).toMatchObject({ code: 'invalid_request' })
    expect(inspect({ requests: [] })).toMatchObject({ model: null })
  })
})

describe('lists', () => {
  const listing = match('GET /v1/messages/batches')
  const entry = (id: string) => `{ "id": "${id}", "n": 1.50 }`
  const list = (ids: string[], more: string) => Buffer.from(`{"data": [${ids.map(entry).join(', ')}], ${more}}`)

  it('keeps items byte for byte and puts the ends right', () => {
    const body = list(['a', 'b', 'c'], '"has_more": true, "first_id": "a", "last_id": "c"')
    const page = objects.page(listing, body)!
    expect(page).toMatchObject({ more: true, token: null })
    expect(page.items.map(({ name }) => name.id)).toEqual(['a', 'b', 'c'])
    expect(objects.writePage(listing, body, page, [0, 1, 2], true)).toBe(body)
    const written = objects.writePage(listing, body, page, [1], false).toString()
    expect(written).toBe(`{"data": [${entry('b')}], "has_more": false, "first_id": "b", "last_id": "b"}`)
    const empty = objects.writePage(listing, body, page, [], false).toString()
    expect(JSON.parse(empty)).toEqual({ data: [], has_more: false, first_id: null, last_id: null })
  })

  it.each([
    ['', '?after_id=c'],
    ['?limit=3&after_id=x', '?limit=3&after_id=c'],
    ['?before_id=x&limit=3', '?limit=3&before_id=a'],
  ])('goes on from %j with %j', (query, expected) => {
    const body = list(['a', 'b', 'c'], '"has_more": true')
    expect(objects.nextPage(query, objects.page(listing, body)!)).toBe(expected)
  })

  it('goes on by token where the answer has one', () => {
    const files = match('GET /v1/files')
    const body = list(['a', 'b'], '"next_page": "p+2"')
    const page = objects.page(files, body)!
    expect(page).toMatchObject({ more: true, token: 'p+2' })
    expect(objects.nextPage('?page=p1&limit=2', page)).toBe('?limit=2&page=p%2B2')
    expect(objects.nextPage('?page_token=p1', page)).toBe('?page_token=p%2B2')
    const written = objects.writePage(files, body, { ...page, token: 'other' }, [1], true).toString()
    expect(JSON.parse(written)).toEqual({ data: [{ id: 'b', n: 1.5 }], next_page: 'other' })
    expect(objects.writePage(files, body, page, [1], false).toString()).toContain('"next_page": null')
    const last = objects.page(files, list(['a'], '"next_page": null'))!
    expect(last.more).toBe(false)
    expect(objects.nextPage('', last)).toBeNull()
  })

  it('is none where the answer is none', () => {
    for (const body of ['[]', '{"data":7}', 'x']) expect(objects.page(listing, Buffer.from(body))).toBeNull()
  })
})

describe('URLs', () => {
  const rewrite = (body: string) => objects.rewriteAnswerUrls(Buffer.from(body), urls)

  it('leads results back here, whatever host they are at', () => {
    for (const host of ['https://api.anthropic.com', 'https://other.example/base'])
      expect(rewrite(`{"a":[{ "results_url" : "${host}/v1/messages/batches/b1/results","x":1}]}`).toString()).toBe(
        '{"a":[{ "results_url" : "https://gateway.example/v1/anthropic/v1/messages/batches/b1/results","x":1}]}',
      )
  })

  it.each([
    ['"https://evil.example/x"', 'b1'],
    ['"https://evil.example/v1/messages/batches/../results"', 'b1'],
    ['"https://evil.example/v1/messages/batches/b2/results?x"', 'b1'],
    ['["https://evil.example/x"]', 'b1'],
    ['""', 'b1'],
  ])('builds %s from the id of its batch', (told, id) => {
    const own = `https://gateway.example/v1/anthropic/v1/messages/batches/${id}/results`
    const one = (at: string) => `{"results_url":${told},"id":"${at}"}`
    expect(JSON.parse(rewrite(one(id)).toString())).toEqual({ results_url: own, id })
    const list = rewrite(`{"data":[${one('x')},${one(id)}]}`).toString()
    expect(JSON.parse(list)).toMatchObject({ data: [{ id: 'x' }, { results_url: own }] })
    const hidden = `{"id":"${id}","r\\u0065sults_url":${told}}`
    expect(JSON.parse(rewrite(hidden).toString())).toEqual({ results_url: own, id })
  })

  it.each(['{"a":{"results_url":"//evil/x","id":"b"}}', '{"results_url":"x"}', '{"id":"..","results_url":"x"}'])(
    'leads nowhere where no batch is told of: %s',
    (body) => expect(rewrite(body).toString()).toContain('"results_url":null'),
  )

  it('leaves alone what is none', () => {
    for (const body of [
      '{"results_url":null}',
      '{"text":"\\"results_url\\": \\"https://api.anthropic.com/v1/messages/batches/b1/results\\""}',
    ]) {
      const bytes = Buffer.from(body)
      expect(objects.rewriteAnswerUrls(bytes, urls)).toBe(bytes)
    }
  })

  it('changes no other byte', () => {
    fc.assert(
      fc.property(fc.json(), fc.string(), (value, id) => {
        const before = `{"x":${value},"results_url":`
        const url = `https://h/v1/messages/batches/${encodeURIComponent(id)}/results`
        fc.pre(!value.includes('results_url') && !['', '.', '..'].includes(id))
        const written = rewrite(`${before}${JSON.stringify(url)}}`).toString()
        expect(written.startsWith(before)).toBe(true)
        expect(written).toContain(urls.lane)
      }),
    )
  })
})

it('says "not found" the way the provider does', () => {
  const { status, body } = objects.notFound(match('GET /v1/files/x'), { type: 'file', id: 'x' }, 'req_1')
  expect(status).toBe(404)
  expect(JSON.parse(body.toString())).toEqual({
    type: 'error',
    error: { type: 'not_found_error', message: 'File not found: x' },
    request_id: 'req_1',
  })
  const thread = objects.notFound(match('POST /v1/messages'), { type: 'thread', id: 'msg_1' }, 'req_1')
  expect(JSON.parse(thread.body.toString())).toMatchObject({
    error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } },
  })
})
