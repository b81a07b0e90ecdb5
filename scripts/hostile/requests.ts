import { gzipSync } from 'node:zlib'
import type { HostileCase } from './case.ts'
import { cut, fill, MB, values } from './shapes.ts'
import type { Call } from './stage.ts'

/** Largest body that the gateway takes is 100 MB. */
const large = 80 * MB

const chat = (inner: string) => `{"model":"openai-m","messages":${inner}}`
const calls = {
  chat: { path: '/v1/chat/completions', body: chat },
  responses: { path: '/v1/responses', body: (inner: string) => `{"model":"openai-m","input":${inner}}` },
  messages: {
    path: '/v1/anthropic/v1/messages',
    body: (inner: string) => `{"model":"anthropic-m","max_tokens":9,"messages":${inner}}`,
  },
  generate: {
    path: '/v1/gemini/v1beta/models/gemini-m:generateContent',
    body: (inner: string) => `{"contents":${inner}}`,
  },
} as const

function call(area: string, name: string, make: () => Call, sample = false): HostileCase {
  return { area, name, sample, run: (stage) => stage.send(make()) }
}

const sampled = ['escaped keys', 'objects of many keys', 'deep', 'one text of escapes']

const shaped = Object.entries(values).flatMap(([name, make]) => [
  call('JSON body', name, () => ({ path: calls.chat.path, body: chat(make(large)) }), sampled.includes(name)),
  call('JSON body that is kept, masked', name, () => ({
    path: calls.chat.path,
    body: chat(make(12 * MB)),
    captured: true,
  })),
])

const perLane = Object.entries(calls).flatMap(([lane, { path, body }]) =>
  ['objects of many keys', 'empty objects', 'one text of \\u escapes', 'keys beyond ASCII'].map((name) =>
    call(`JSON body, ${lane}`, name, () => ({ path, body: body(values[name]?.(40 * MB) ?? '') })),
  ),
)

const many = (size: number, one: string) => `[${fill(size, `${one},`)}${one}]`
const references: [keyof typeof calls, string, string][] = [
  ['responses', 'files', '{"role":"user","content":[{"type":"input_file","file_id":"file-a"}]}'],
  ['responses', 'items', '{"type":"item_reference","id":"msg_1"}'],
  ['responses', 'escaped ids', '{"type":"item_reference","id":"\\u006dsg_1"}'],
  ['chat', 'files', '{"role":"user","content":[{"type":"file","file":{"file_id":"file-a"}}]}'],
  ['messages', 'files', '{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}'],
  ['generate', 'files', '{"parts":[{"fileData":{"fileUri":"https://example.com/v1beta/files/abc"}}]}'],
]

/** Other ids each time. */
function numbered(size: number): string {
  const count = Math.floor(size / 60)
  return `[${Array.from({ length: count }, (_, at) => `{"type":"item_reference","id":"msg_${at}"}`).join(',')}]`
}

const named = references.map(([lane, name, one]) =>
  call(
    'ids of objects in a body',
    `${lane}: ${name}`,
    () => ({ path: calls[lane].path, body: calls[lane].body(many(20 * MB, one)) }),
    name === 'items',
  ),
)

const odd: HostileCase[] = [
  call('JSON body', 'model again and again', () => ({
    path: calls.chat.path,
    body: `{${fill(large, '"model":"openai-m",')}"messages":[]}`,
  })),
  call('JSON body', 'a long model', () => ({ path: calls.chat.path, body: `{"model":"${'m'.repeat(large)}"}` })),
  call('JSON body', 'a long list as its model', () => ({
    path: calls.chat.path,
    body: `{"model":${values['empty texts']?.(6 * MB)},"messages":[]}`,
  })),
  call('JSON body', 'a long stream', () => ({
    path: calls.chat.path,
    body: `{"model":"openai-m","stream":${values['one text of escapes']?.(large)}}`,
  })),
  call('JSON body', 'a long key', () => ({
    path: calls.chat.path,
    body: chat(`{${values['one text of escapes']?.(large)}:1}`),
  })),
  call('JSON body', 'in pieces of 7 bytes', () => ({ path: calls.chat.path, body: cut(chat(fill(MB, ' ')), 7) })),
  call('JSON body', 'no letters', () => ({ path: calls.chat.path, body: Buffer.alloc(large, 0xff) })),
  call('JSON body', 'other ids each time', () => ({
    path: calls.responses.path,
    body: calls.responses.body(numbered(20 * MB)),
  })),
  ...['gzip', 'deflate', 'br'].map((encoding) =>
    call('compressed body', encoding, () => ({
      path: calls.chat.path,
      headers: { 'content-encoding': encoding },
      body: gzipSync(chat(values['empty objects']?.(large) ?? '')),
    })),
  ),
]

const boundary = 'xYzBoundary'
const part = (name: string, value: string, more = '') =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`
const formEnd = `--${boundary}--\r\n`
const model = part('model', 'openai-m')

const forms: Record<string, () => string> = {
  'many parts': () => `${fill(8 * MB, part('p', ''))}${model}${formEnd}`,
  'many wanted parts': () => `${fill(8 * MB, part('language', 'en'))}${model}${formEnd}`,
  'many files': () => `${model}${fill(8 * MB, part('file', 'x', '; filename="a"'))}${formEnd}`,
  'nearly boundaries': () =>
    `${model}${part('file', fill(40 * MB, `\r\n--${boundary.slice(0, -1)}`), '; filename="a"')}${formEnd}`,
  'line ends': () => `${model}${part('file', fill(40 * MB, '\r\n'), '; filename="a"')}${formEnd}`,
  'long headers': () => `--${boundary}\r\n${fill(40 * MB, 'x-a: b\r\n')}`,
  'parameters of a part': () =>
    fill(8 * MB, `--${boundary}\r\ncontent-disposition: form-data${fill(15_000, '; a=b')}\r\n\r\n\r\n`),
  'open quotes': () =>
    fill(8 * MB, `--${boundary}\r\ncontent-disposition: form-data; name="${fill(15_000, '\\"')}\r\n\r\n\r\n`),
  'blanks of a header': () => fill(8 * MB, `--${boundary}\r\nx:${' '.repeat(15_000)}y\r\n\r\n\r\n`),
  'blanks that end in a NUL': () =>
    fill(8 * MB, `--${boundary}\r\ncontent-disposition: form-data; name="a"\r\nx:${' '.repeat(15_000)}\0\r\n\r\n\r\n`),
  'a long value': () => `${part('model', 'm'.repeat(40 * MB))}${formEnd}`,
  'names in brackets': () => fill(8 * MB, part(`file_ids${'[0]'.repeat(3000)}`, 'x')),
}

const formCases = Object.entries(forms).flatMap(([name, make]) =>
  [64 * 1024, 13].map((bytes) =>
    call(
      bytes === 13 ? 'form in pieces of 13 bytes' : 'form',
      name,
      () => ({
        path: '/v1/audio/transcriptions',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: cut(bytes === 13 ? make().slice(0, MB / 2) : make(), bytes),
      }),
      bytes !== 13 && name === 'many parts',
    ),
  ),
)

const line = (body: string) => `{"custom_id":"1","method":"POST","url":"/v1/responses","body":${body}}\n`
const batches: Record<string, () => string> = {
  'many lines': () => fill(30 * MB, line('{"model":"openai-m","input":"x"}')),
  'empty lines': () => fill(30 * MB, '\n'),
  'lines of many keys': () => fill(30 * MB, line(`{"model":"openai-m",${fill(3 * MB, '"\\u0061":1,')}"input":1}`)),
  'deep lines': () => fill(30 * MB, line(`{"model":"openai-m","input":${values.deep?.(3 * MB)}}`)),
  'lines of references': () => fill(30 * MB, line(calls.responses.body(many(3 * MB, references[1]?.[2] ?? '')))),
  'one line': () => line(`"${'x'.repeat(30 * MB)}"`),
}
const batchCases = Object.entries(batches).map(([name, make]) =>
  call(
    'batch input',
    name,
    () => ({
      path: '/v1/files',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'x-sp-provider': 'openai' },
      body: cut(`${part('purpose', 'batch')}${part('file', make(), '; filename="a.jsonl"')}${formEnd}`, 64 * 1024),
    }),
    name === 'lines of many keys',
  ),
)

const lines = (count: number, one: (at: number) => [string, string]) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => one(at)))
const tags = fill(12_000, 'a=b,')
const heads: Record<string, () => Call> = {
  'many headers': () => ({ path: calls.chat.path, headers: lines(900, (at) => [`x-a${at}`, 'b']) }),
  'too many headers': () => ({ path: calls.chat.path, headers: lines(3000, (at) => [`a${at}`, '']) }),
  'many tags': () => ({ path: calls.chat.path, headers: { 'x-sp-tag': tags }, body: chat('[]') }),
  'a long user agent of keys': () => ({
    path: calls.chat.path,
    headers: { 'user-agent': fill(12_000, 'sp_live_') },
    body: chat('[]'),
  }),
  'a long query': () => ({ path: `/v1/files?${fill(12_000, 'a=%41&')}`, method: 'GET' }),
  'a long path': () => ({ path: `/v1${fill(12_000, '/files')}`, method: 'GET' }),
  'escapes in a path': () => ({ path: `/v1/files/${fill(12_000, '%2F%41')}`, method: 'GET' }),
  'slashes in a path': () => ({ path: `/v1${'/'.repeat(12_000)}`, method: 'GET' }),
  'colons in a name': () => ({ path: `/v1/gemini/v1beta/models/${':'.repeat(12_000)}`, body: '{}' }),
  'a long content type': () => ({
    path: '/v1/audio/transcriptions',
    headers: { 'content-type': `multipart/form-data${fill(12_000, '; a=b')}; boundary=x` },
  }),
  'addresses that forwarded it': () => ({
    path: calls.chat.path,
    headers: { 'x-forwarded-for': fill(12_000, '1.1.1.1, ') },
    body: chat('[]'),
  }),
  'a long id': () => ({ path: `/v1/responses/resp_${'a'.repeat(12_000)}`, method: 'GET' }),
}
const listed = (count: number, one: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => one(at)).join(',')
const toolOf = (schema: string) => `"tools":[{"type":"function","function":{"name":"t","parameters":${schema}}}]`
const asked = '{"role":"user","content":"x"}'
const called = (text: string) =>
  `${asked},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(text)}}}]},{"role":"tool","tool_call_id":"c","content":"r"}`
/** Of a client of chat, to providers of other formats. */
const translated: Record<string, () => string> = {
  'turns of one letter': () => `"messages":[${listed(60_000, () => asked)}]`,
  'a schema of many parts': () =>
    `"messages":[${asked}],${toolOf(`{"allOf":[${listed(15_000, (at) => `{"properties":{"a${at}":{}}}`)}]}`)}`,
  'a list that each part says again': () =>
    `"messages":[${asked}],${toolOf(`{"enum":[${listed(20_000, (at) => `"value-${at}"`)}],"allOf":[${listed(20_000, () => '{"enum":["x"]}')}]}`)}`,
  'references that multiply': () =>
    `"messages":[${asked}],${toolOf(`{"$ref":"#/$defs/d0","$defs":{${listed(40, (at) => `"d${at}":{"properties":{"x":{"$ref":"#/$defs/d${at + 1}"},"y":{"$ref":"#/$defs/d${at + 1}"}}}`)}}}`)}`,
  'arguments of many values': () => `"messages":[${called(`{"a":${values.numbers?.(12 * MB)}}`)}]`,
  'deep arguments': () => `"messages":[${called(`{"a":${values.deep?.(10 * MB)}}`)}]`,
  'a long text of escapes': () => `"messages":[{"role":"user","content":${values['one text of escapes']?.(12 * MB)}}]`,
}
const translatedCases = Object.entries(translated).flatMap(([name, make]) =>
  ['anthropic', 'gemini'].map((provider) =>
    call(
      `translated request, ${provider}`,
      name,
      () => ({ path: calls.chat.path, body: `{"model":"${provider}-m",${make()}}` }),
      provider === 'gemini' && name === 'a schema of many parts',
    ),
  ),
)

/** One behind the other on one connection, none of them waiting for an answer. */
const pipelined: Record<string, (key: string) => string> = {
  'without a key': () => 'GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n',
  'of a wrong key': () => 'GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sp_live_x\r\n\r\n',
  'for lists of models': (key) => `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`,
  'of an unknown path': () => 'GET / HTTP/1.1\r\n\r\n',
  'of a probe': () => 'GET /livez HTTP/1.1\r\nhost: x\r\n\r\n',
}
const headCases = [
  ...Object.entries(heads).map(([name, make]) => call('head', name, make)),
  ...Object.entries(pipelined).map(
    ([name, make]): HostileCase => ({
      area: 'pipelined heads',
      name,
      run: (stage) => stage.pipeline(fill(MB, make(stage.key))),
    }),
  ),
]

export const requestCases: readonly HostileCase[] = [
  ...shaped,
  ...perLane,
  ...named,
  ...odd,
  ...formCases,
  ...batchCases,
  ...headCases,
  ...translatedCases,
]
