import { describe, expect, it } from 'vitest'
import type { Fault } from '../../src/core/errors.ts'
import type { ObjectName } from '../../src/core/objects/stored-object.ts'
import type { Inspection, Match, StreamEvent } from '../../src/lanes/contract.ts'
import { openai } from '../../src/lanes/openai/lane.ts'
import { isFault } from '../../src/lanes/request-body.ts'
import { notFound as mockNotFound } from '../support/openai/family.ts'

const { objects } = openai

function find(call: string): Match {
  const [method = '', path = ''] = call.split(' ')
  const match = openai.match(method, path)
  if (match === null) throw new Error(call)
  return match
}

function inspect(call: string, body: string): Inspection {
  const found = find(call).endpoint.inspect(find(call), '', Buffer.from(body))
  if (isFault(found)) throw new Error(found.message)
  return found
}

const short = (names: readonly ObjectName[] | Fault) =>
  'code' in names ? [names.code] : names.map(({ type, id }) => `${type} ${id}`).sort()
const refer = (call: string, body: string) => short(find(call).endpoint.references('', Buffer.from(body)))

const chat = 'POST /chat/completions'
const responses = 'POST /responses'

describe('references', () => {
  it('too long for any object are looked up, and are no object', () => {
    const cut = (start: string) => `${start}${'a'.repeat(2048 - start.length)}…`
    const long = (start: string) => `${start}${'a'.repeat(20_000)}`
    for (const [body, type, start] of [
      [{ previous_response_id: long('resp_') }, 'response', 'resp_'],
      [{ conversation: { id: long('conv_') } }, 'conversation', 'conv_'],
      [{ input: [{ type: 'item_reference', id: long('msg_') }] }, 'item', 'msg_'],
      [{ input: [{ content: [{ type: 'input_file', file_id: long('file-') }] }] }, 'file', 'file-'],
    ] as const)
      expect(refer(responses, JSON.stringify(body))).toEqual([`${type} ${cut(start)}`])
  })

  it.each([
    [responses, '{"previous_response_id":"resp_1","input":"x"}', ['response resp_1']],
    [responses, '{"conversation":"conv_1"}', ['conversation conv_1']],
    [responses, '{"conversation":{"id":"conv_1"}}', ['conversation conv_1']],
    [responses, '{"input":[{"type":"message","content":[{"type":"input_file","file_id":"file-1"}]}]}', ['file file-1']],
    [
      responses,
      '{"tools":[{"type":"file_search","vector_store_ids":["vs_1","vs_2"]}]}',
      ['vector_store vs_1', 'vector_store vs_2'],
    ],
    [responses, '{"tools":[{"type":"code_interpreter","container":"cntr_1"}]}', ['container cntr_1']],
    [
      responses,
      '{"tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":["file-1"]}}]}',
      ['file file-1'],
    ],
    [
      responses,
      '{"tools":[{"type":"shell","environment":{"skills":[{"skill_id":"skill_1"},{"skill_id":"pptx"}]}}]}',
      ['skill skill_1'],
    ],
    [responses, '{"input":[{"type":"item_reference","id":"msg_1"},{"id":"msg_2"}]}', ['item msg_1', 'item msg_2']],
    [responses, '{"input":[{"type":"reasoning","id":"rs_1","summary":[]}]}', ['item rs_1']],
    [responses, '{"input":[{"type":"image_generation_call","id":"ig_1","result":null}]}', ['item ig_1']],
    [
      responses,
      '{"prompt":{"id":"pmpt_1","variables":{"conversation":"they said hello","a":{"file_id":"file-1"}}}}',
      ['file file-1', 'prompt pmpt_1'],
    ],
    ['POST /responses/compact', '{"previous_response_id":"resp_1"}', ['response resp_1']],
    [chat, '{"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"file-1"}}]}]}', ['file file-1']],
    [chat, '{"messages":[{"role":"assistant","audio":{"id":"audio_1"}}]}', ['item audio_1']],
    [chat, '{"audio":{"voice":{"id":"voice_1"}}}', ['voice voice_1']],
    ['POST /audio/speech', '{"voice":"voice_1"}', ['voice voice_1']],
    ['POST /batches', '{"input_file_id":"file-1"}', ['file file-1']],
    ['POST /fine_tuning/jobs', '{"training_file":"file-1","validation_file":"file-2"}', ['file file-1', 'file file-2']],
    [
      'POST /vector_stores/vs_1/file_batches',
      '{"files":[{"file_id":"file-1"}],"file_ids":["file-2"]}',
      ['file file-1', 'file file-2'],
    ],
    ['POST /evals/eval_1/runs', '{"data_source":{"source":{"type":"file_id","id":"file-1"}}}', ['file file-1']],
    ['POST /videos/edits', '{"video":{"id":"video_1"}}', ['video video_1']],
    ['POST /threads/runs', '{"assistant_id":"asst_1"}', ['assistant asst_1']],
    ['POST /containers', '{"file_ids":["file-1"]}', ['file file-1']],
    ['POST /conversations', '{"items":[{"type":"message","content":[{"file_id":"file-1"}]}]}', ['file file-1']],
  ])('of %s %s', (call, body, expected) => {
    expect(refer(call, body)).toEqual(expected)
  })

  it.each([
    [
      'repeated',
      '{"previous_response_id":"resp_1","previous_response_id":"resp_2"}',
      ['response resp_1', 'response resp_2'],
    ],
    ['an escaped name', '{"previous\\u005fresponse\\u005fid":"resp_1"}', ['response resp_1']],
    ['an escaped id', '{"previous_response_id":"resp\\u005f1"}', ['response resp_1']],
    ['a type given twice', '{"input":[{"type":"message","type":"item_reference","id":"msg_1"}]}', ['item msg_1']],
    ['white space', '{ "input" : [ { "id" : "msg_1" } ] }', ['item msg_1']],
    [
      'other letters',
      '{"Previous_Response_ID":"resp_1","TOOLS":[{"File_IDs":["file-1"]}]}',
      ['file file-1', 'response resp_1'],
    ],
    [
      'letters that fold',
      '{"\u017f\u212aill_id":"skill_1","\\u017fkill_id":"skill_2"}',
      ['skill skill_1', 'skill skill_2'],
    ],
    ['an item in other letters', '{"Input":[{"Type":"item_reference","ID":"msg_1"}]}', ['item msg_1']],
    [
      'a second type in other letters',
      '{"input":[{"type":"message","Type":"item_reference","id":"msg_1"}]}',
      ['item msg_1'],
    ],
    ['a role that only some see', '{"input":[{"Role":"user","id":"msg_1"}]}', ['item msg_1']],
    [
      'content that only some see',
      '{"input":[{"type":"reasoning","Encrypted_Content":"x","id":"rs_1"}]}',
      ['item rs_1'],
    ],
    ['notes that only some take for notes', '{"Metadata":{"file_id":"file-1"}}', ['file file-1']],
    [
      'variables that only some take for them',
      '{"prompt":{"Variables":{"conversation":"conv_1"}}}',
      ['conversation conv_1'],
    ],
  ])('cannot be hidden: %s', (_name, body, expected) => {
    expect(refer(responses, body)).toEqual(expected)
  })

  it.each([
    [responses, '{"metadata":{"file_id":"file-1","conversation":"conv_1"}}'],
    [responses, '{"client_metadata":{"thread_id":"01a1fe7f","session_id":"01a1fe7f"}}'],
    [
      responses,
      '{"tools":[{"type":"function","parameters":{"properties":{"file_id":{"default":"x"}},"file_id":"y"}}]}',
    ],
    [responses, '{"input":"say \\"file_id\\": \\"file-1\\""}'],
    [responses, '{"input":[{"type":"message","id":"msg_1","role":"assistant","content":[]}]}'],
    [responses, '{"input":[{"type":"reasoning","id":"rs_1","encrypted_content":"x"}]}'],
    // Of a translated answer: no provider has it.
    [responses, '{"input":[{"type":"reasoning","id":"rs_sp_abcdefghijklmnopqrstuvwx","summary":[]}]}'],
    [responses, '{"input":[{"type":"file_search_call","id":"fs_1","results":[{"file_id":"file-1"}]}]}'],
    [chat, '{"messages":[{"role":"tool","tool_call_id":"call_1"}],"audio":{"voice":"alloy"}}'],
    ['POST /embeddings', '{"input":"x","file_id":"file-1"}'],
  ])('are none in %s %s', (call, body) => {
    expect(refer(call, body)).toEqual([])
  })

  it('are found behind a megabyte of text', () => {
    const body = `{"input":[{"role":"user","content":"${'x'.repeat(1_000_000)}"},{"id":"msg_1"}]}`
    expect(refer(responses, body)).toEqual(['item msg_1'])
  })

  it('are found in lists and depths that no real body has', () => {
    const wide = `{"input":[${'0,'.repeat(150_000)}{"id":"msg_1"}]}`
    expect(refer(responses, wide)).toEqual(['item msg_1'])
    const deep = `{"x":${'['.repeat(9000)}{"file_id":"file-1"}${']'.repeat(9000)}}`
    expect(refer(responses, deep)).toEqual(['file file-1'])
  })

  it('draw on no answers of the whole account', () => {
    const run = 'POST /evals/eval_1/runs'
    const source = (type: string) => Buffer.from(`{"data_source":{"type":"responses","source":{"type":"${type}"}}}`)
    for (const type of ['responses', 'stored_completions', 'logs'])
      expect(find(run).endpoint.inspect(find(run), '', source(type))).toMatchObject({ code: 'invalid_request' })
    expect(find(run).endpoint.inspect(find(run), '', source('file_content'))).toMatchObject({ model: null })
  })
})

describe('told', () => {
  const tell = (call: string, body: string, answer: unknown) =>
    short(find(call).endpoint.createdObjects(find(call), inspect(call, body), answer))

  const output = [
    { type: 'message', id: 'msg_1', content: [{ annotations: [{ container_id: 'cntr_1', file_id: 'cfile_1' }] }] },
    { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' },
  ]

  it.each([
    [chat, '{"model":"m"}', { id: 'chatcmpl-1' }, []],
    [chat, '{"model":"m","store":true}', { id: 'chatcmpl-1' }, ['chat_completion chatcmpl-1']],
    [chat, '{"model":"m","store":false}', { id: 'chatcmpl-1' }, []],
    [
      responses,
      '{"model":"m"}',
      { id: 'resp_1', conversation: { id: 'conv_1' }, output },
      ['container cntr_1', 'conversation conv_1', 'item ci_1', 'item msg_1', 'response resp_1'],
    ],
    [responses, '{"model":"m","store":false}', { id: 'resp_1', output: [{ id: 'msg_1' }] }, []],
    [
      responses,
      '{"model":"m","background":true}',
      { id: 'resp_1', status: 'queued', store: false, background: true, output: [] },
      ['response resp_1'],
    ],
    [
      responses,
      '{"model":"m","background":true,"store":false}',
      { id: 'resp_1', status: 'queued', store: false, background: true, output: [{ id: 'msg_1' }] },
      ['response resp_1'],
    ],
    [
      responses,
      '{"model":"m","store":false,"tools":[{"type":"code_interpreter"}]}',
      { id: 'resp_1', store: false, output },
      ['container cntr_1'],
    ],
    ['POST /files', '', { id: 'file-1', object: 'file' }, ['file file-1']],
    ['POST /batches', '{}', { id: 'batch_1', input_file_id: 'file-1' }, ['batch batch_1']],
    [
      'GET /batches/batch_1',
      '',
      { id: 'batch_1', output_file_id: 'file-2', error_file_id: 'file-3' },
      ['file file-2', 'file file-3'],
    ],
    ['GET /batches', '', { data: [{ id: 'batch_1', output_file_id: 'file-2' }] }, ['file file-2']],
    ['POST /uploads/upload_1/complete', '{}', { id: 'upload_1', file: { id: 'file-1' } }, ['file file-1']],
    [
      'GET /fine_tuning/jobs/ftjob-1',
      '',
      { id: 'ftjob-1', result_files: ['file-1'], fine_tuned_model: 'ft:m' },
      ['file file-1', 'tuned_model ft:m'],
    ],
    ['POST /conversations/conv_1/items', '{}', { data: [{ id: 'msg_1' }] }, ['item msg_1']],
    ['GET /responses/resp_1/input_items', '', { data: [{ id: 'msg_1' }] }, ['item msg_1']],
    ['POST /videos/video_1/remix', '{}', { id: 'video_2' }, ['video video_2']],
    ['POST /threads/runs', '{}', { id: 'run_1', thread_id: 'thread_1' }, ['thread thread_1']],
    ['POST /threads/runs', '{}', { id: 'thread_1' }, ['thread thread_1']],
    ['DELETE /files/file-1', '', { id: 'file-1', deleted: true }, []],
    ['GET /files/file-1', '', { id: 'file-1' }, []],
  ])('by %s %s', (call, body, answer, expected) => {
    expect(tell(call, body, answer)).toEqual(expected)
  })
})

describe('a stream of a response', () => {
  const event = (type: string, more: object): StreamEvent => {
    const data = Buffer.from(JSON.stringify({ type, ...more }))
    return { name: type, data, bytes: data, part: 'whole' }
  }
  const added = (id: string) => event('response.output_item.added', { item: { type: 'message', id } })
  const read = (body: string, ...events: StreamEvent[]) => {
    const reader = find(responses).endpoint.reader(inspect(responses, body), { renameTo: null, askForUsage: false })
    for (const one of events) reader.event(one)
    return short(reader.seen().objects)
  }
  const created = (store: boolean) => event('response.created', { response: { id: 'resp_1', store } })
  const output = [{ id: 'msg_1' }, { id: 'ci_1', container_id: 'cntr_1' }]
  const completed = (store: boolean) => event('response.completed', { response: { id: 'resp_1', store, output } })
  const stored = '{"model":"m","stream":true}'
  const unstored = '{"model":"m","stream":true,"store":false,"tools":[{"type":"code_interpreter"}]}'

  it('tells of items as they are announced, and of the rest at its end', () => {
    expect(read(stored, created(true), added('msg_1'))).toEqual(['item msg_1'])
    expect(read(stored, created(true), added('msg_1'), completed(true))).toEqual([
      'container cntr_1',
      'item ci_1',
      'item msg_1',
    ])
  })

  it('tells of containers alone where nothing is stored', () => {
    expect(read(unstored, created(false), added('msg_1'), completed(false))).toEqual(['container cntr_1'])
  })
})

describe('pages', () => {
  const match = find('GET /files')
  const body = Buffer.from(
    '{\n "object": "list", "data": [{"id": "a", "n": 1.0}, {"n":2,"id":"b"} , {"id":"c"}],\n "first_id":"a","last_id":"c", "has_more": true}',
  )
  const page = objects.page(match, body)!

  it('are taken apart', () => {
    expect(page.items.map(({ name }) => name)).toEqual(['a', 'b', 'c'].map((id) => ({ type: 'file', id })))
    expect(page.more).toBe(true)
    expect(objects.page(match, Buffer.from('[]'))).toBeNull()
  })

  it('are written with what is kept, and a cursor that leads on', () => {
    const written = objects.writePage(match, body, page, [0, 1], false).toString()
    expect(JSON.parse(written)).toEqual({
      object: 'list',
      data: [
        { id: 'a', n: 1 },
        { n: 2, id: 'b' },
      ],
      first_id: 'a',
      last_id: 'b',
      has_more: false,
    })
    expect(written).toContain('{"id": "a", "n": 1.0}')
    expect(JSON.parse(objects.writePage(match, body, page, [], false).toString())).toMatchObject({
      data: [],
      first_id: null,
      last_id: null,
    })
    const spaced = Buffer.from('{"data":[\n {"id":"a"}\n ],"has_more":false}')
    expect(objects.writePage(match, spaced, objects.page(match, spaced)!, [], false).toString()).toContain('"data":[],')
    const bare = Buffer.from('{"data":[{"id":"a"}]}')
    const more = objects.writePage(match, bare, objects.page(match, bare)!, [0], true)
    expect(JSON.parse(more.toString())).toEqual({ has_more: true, data: [{ id: 'a' }] })
  })

  it('go on behind the last item of the provider’s', () => {
    expect(objects.nextPage('?limit=3&order=desc', page)).toBe('?limit=3&order=desc&after=c')
    expect(objects.nextPage('?after=x', page)).toBe('?after=c')
    expect(objects.nextPage('?before=x', page)).toBe('?before=a')
    expect(objects.nextPage('', { ...page, more: false })).toBeNull()
  })
})

describe('not found', () => {
  it('cannot be told from the provider’s own', () => {
    const calls = openai.endpoints.filter(({ object, served }) => object?.effect === 'use' && served === 'provider')
    const types = new Set(calls.flatMap(({ object }) => object?.type ?? []))
    expect(types.size).toBeGreaterThan(15)
    for (const type of types) {
      const endpoint = calls.find(({ object }) => object?.type === type)!
      const match = { endpoint, pathModel: null, path: '', version: null, object: 'x_1' }
      const { message, param, code } = mockNotFound(type, 'x_1')
      const own = { error: { message, type: 'invalid_request_error', param, code } }
      expect(JSON.parse(objects.notFound(match, { type, id: 'x_1' }, 'req_1').body.toString())).toEqual(own)
    }
  })

  const say = (call: string, name: ObjectName) => {
    const { status, body } = objects.notFound(find(call), name, 'req_1')
    return { status, ...(JSON.parse(body.toString()) as { error: object }).error }
  }

  it('is said as the provider says it', () => {
    expect(say('GET /files/file-x', { type: 'file', id: 'file-x' })).toEqual({
      status: 404,
      message: 'No such File object: file-x',
      type: 'invalid_request_error',
      param: 'id',
      code: null,
    })
    expect(say('GET /responses/resp_x', { type: 'response', id: 'resp_x' })).toMatchObject({
      status: 404,
      message: "Response with id 'resp_x' not found.",
    })
    expect(say(responses, { type: 'response', id: 'resp_x' })).toMatchObject({
      status: 400,
      code: 'previous_response_not_found',
    })
  })
})

describe('an item that shows an id', () => {
  const item = (text: string) => refer(responses, `{"model":"m","input":[${text}]}`)

  it.each([
    '{"type":"message","id":"msg_a","type":null}',
    '{"type":"message","id":"msg_a","type":1}',
    '{"id":"msg_a","role":"user","role":null}',
    '{"type":"reasoning","id":"msg_a","encrypted_content":"x","encrypted_content":null}',
    '{"type":"reasoning","id":"msg_a","encrypted_content":[]}',
    '{"type":"reasoning","id":"msg_a","encrypted_content":""}',
    '{"type":"reasoning","id":"msg_a"}',
    '{"type":"reasoning","id":"msg_a","content":[],"encrypted_content":null}',
    '{"type":"reasoning","id":"msg_a","content":[{"type":"reasoning_text","text":""}]}',
    '{"type":"reasoning","id":"msg_a","content":[{"type":"reasoning_text","text":"x"}],"content":null}',
    '{"type":"reasoning","id":"msg_a","content":[{"type":"input_file","text":"x"}]}',
    '{"type":"reasoning","id":"msg_a","summary":[{"type":"summary_text","text":"x"}]}',
  ])('is a reference where any reader may take it for one: %s', (text) => {
    expect(item(text)).toEqual(['item msg_a'])
  })

  it.each([
    '{"type":"message","id":"msg_a","role":"user","content":"x"}',
    '{"id":"msg_a","role":"user","content":"x"}',
    `{"type":"reasoning","id":"msg_a","encrypted_content":"${'x'.repeat(20_000)}"}`,
    `{"type":"image_generation_call","id":"msg_a","result":"${'x'.repeat(200_000)}"}`,
    // DeepSeek shows its reasoning, and takes it back in the next turn.
    '{"type":"reasoning","id":"msg_a","summary":[],"content":[{"type":"reasoning_text","text":"x"}],"encrypted_content":null}',
  ])('is none where it brings its content: %.60s', (text) => {
    expect(item(text)).toEqual([])
  })
})

describe('a body of very many values', () => {
  it.each(['{}', '[]', '0', '"a"', '{"a":{}}'])('is refused before it fills the memory: %s', (value) => {
    const many = `${value},`.repeat(210_000).slice(0, -1)
    expect(refer(responses, `{"model":"m","input":[],"id":"x","a":[${many}]}`)).toEqual(['invalid_request'])
  })
})
