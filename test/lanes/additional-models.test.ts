import { describe, expect, it } from 'vitest'
import type { FrameAsk } from '../../src/lanes/contract.ts'
import { findLane } from '../../src/lanes/index.ts'
import { readLine } from '../../src/lanes/openai/objects/input-lines.ts'
import { isFault } from '../../src/lanes/request-body.ts'

function inspect(path: string, body: string) {
  const lane = findLane(path)!
  const match = lane.match('POST', path.slice(lane.prefix.length))!
  const found = match.endpoint.inspect(match, '', Buffer.from(body))
  const patched = (renameAdditionalTo: string[]) =>
    isFault(found)
      ? ''
      : lane.patchBody(Buffer.from(body), found, { renameTo: 'new', renameAdditionalTo, askForUsage: false }).toString()
  return { found, patched }
}

const chat = '/v1/chat/completions'
const responses = '/v1/responses'
const messages = '/v1/anthropic/v1/messages'

describe('models that a call names besides its own', () => {
  it.each([
    ['to fall back to', chat, '"models":["b","c"]', ['b', 'c']],
    ['to fall back to, as one text', chat, '"models":"b"', ['b']],
    ['in a name with an escape', chat, '"mod\\u0065ls":["b"]', ['b']],
    ['of a tool', responses, '"tools":[{"type":"image_generation","model":"b"}]', ['b']],
    ['of a tool, with an escape', responses, '"tools":[{"type":"image_generation","m\\u006fdel":"b"}]', ['b']],
    ['of a tool, on the Anthropic lane', messages, '"tools":[{"name":"x"},{"type":"advisor_1","model":"b"}]', ['b']],
    ["to fall back to, LiteLLM's", chat, '"fallbacks":["b",{"model":"c","messages":[]}]', ['b', 'c']],
    ["to fall back to, Anthropic's", messages, '"fallbacks":[{"model":"b","speed":"fast"}]', ['b']],
    ["to fall back to, Vercel's", chat, '"providerOptions":{"gateway":{"order":["x"],"models":["b","c"]}}', ['b', 'c']],
    ["Vercel's, with an escape", responses, '"providerOptions":{"g\\u0061teway":{"models":["b"]}}', ['b']],
    ['to fall back to, with nulls', chat, '"fallbacks":[{"model":"b","api_key":null,"max_tokens":null}]', ['b']],
  ])('are asked for: %s', (_what, path, member, names) => {
    const { found } = inspect(path, `{"model":"a","max_tokens":9,${member}}`)
    expect(found).toMatchObject({ model: 'a', additionalModels: names.map((name) => ({ name })) })
  })

  it.each([
    ['a list of none', chat, '"models":[]'],
    ['nothing', chat, '"models":null'],
    ['values that are no text', chat, '"models":[1,{"a":"b"},null]'],
    ['its own model again', chat, '"models":["a"]'],
    ['a tool whose argument is a model', chat, '"tools":[{"function":{"parameters":{"properties":{"model":{}}}}}]'],
    ['a word to fall back by', messages, '"max_tokens":9,"fallbacks":"default"'],
    ['nothing that leads elsewhere', chat, '"api_base":null,"fallbacks":null'],
    ['a list of none to fall back to', chat, '"fallbacks":[]'],
    ['options of another', chat, '"providerOptions":{"gateway":{"order":["x"]},"other":{"models":["b"]}}'],
    ['a tool whose model is none', responses, '"tools":[{"type":"x","model":null},"model",3]'],
  ])('are none in %s', (_what, path, member) => {
    const { found } = inspect(path, `{"model":"a",${member}}`)
    expect(found).toMatchObject({ model: 'a' })
    expect(found).not.toHaveProperty('additionalModels')
  })

  it('get the names that the provider knows them by', () => {
    const { patched } = inspect(chat, '{"model":"a","models":["a","b"],"tools":[{"model":"b"},{"model":"c"}]}')
    expect(patched(['B', 'C'])).toBe('{"model":"new","models":["new","B"],"tools":[{"model":"B"},{"model":"C"}]}')
  })

  it('are no texts that content rules change, so that no name is written twice', () => {
    const body = Buffer.from('{"model":"a","models":["b"],"x":"b"}')
    const lane = findLane(chat)!
    const { found } = inspect(chat, body.toString())
    if (isFault(found)) throw new Error(found.message)
    const [span] = found.additionalModels?.[0]?.spans ?? []
    const contentEdits = [span!, { start: 32, end: 35 }].map((each) => ({ span: each, text: '"[P_1]"' }))
    const change = { renameTo: null, renameAdditionalTo: ['B'], askForUsage: false, contentEdits }
    expect(lane.patchBody(body, found, change).toString()).toBe('{"model":"a","models":["B"],"x":"[P_1]"}')
  })

  it('may answer where they are to fall back to, and not where a tool has them', () => {
    const { found } = inspect(chat, '{"model":"a","models":["b","c"],"tools":[{"model":"c"},{"model":"d"}]}')
    const additional = isFault(found) ? [] : (found.additionalModels ?? [])
    expect(additional.map(({ name, mayAnswer }) => [name, mayAnswer === true])).toEqual([
      ['b', true],
      ['c', true],
      ['d', false],
    ])
  })

  it('may answer longer than the one that is asked, and so long is the answer then', () => {
    const read = (member: string, path = chat) => inspect(path, `{"model":"a",${member}}`).found
    const fallbacks = '"fallbacks":["c",{"model":"b","max_tokens":90},{"model":"d","max_tokens":70}]'
    expect(read(`"max_tokens":9,${fallbacks}`)).toMatchObject({ outputLimit: 90, fallbackLimits: { decide: true } })
    expect(read(`"max_tokens":9,"n":2,${fallbacks}`)).toMatchObject({ outputLimit: 180 })
    expect(read(`"max_tokens":99,${fallbacks}`)).toMatchObject({ outputLimit: 99, fallbackLimits: { decide: false } })
    expect(read(fallbacks)).toMatchObject({ outputLimit: null, fallbackLimits: { decide: false } })
    const odd = '"fallbacks":[{"model":"b","max_tokens":"many"}]'
    expect(read(`"max_tokens":9,${odd}`)).toMatchObject({ outputLimit: null, fallbackLimits: { decide: true } })
    expect(read(fallbacks, '/v1/embeddings')).not.toHaveProperty('fallbackLimits')
    const other = '"fallbacks":[{"model":"b","max_output_tokens":50}]'
    expect(read(`"max_output_tokens":9,${other}`, responses)).toMatchObject({ outputLimit: 50 })
    const batch = { requests: [{ params: { model: 'a', max_tokens: 9, fallbacks: [{ model: 'b', max_tokens: 50 }] } }] }
    const { found } = inspect(`${messages}/batches`, JSON.stringify(batch))
    expect(found).toMatchObject({ asks: [{ model: 'a', output: 50, unlimited: 0 }] })
  })

  it('may be left to the provider to choose, in a call, a frame and a batch, but not in a file that others may use', () => {
    const word = '"fallbacks":"default"'
    for (const path of [chat, responses, messages])
      expect(inspect(path, `{"model":"a","max_tokens":9,${word}}`).found).toMatchObject({ leavesChoice: true })
    expect(inspect(chat, '{"model":"a","fallbacks":[]}').found).not.toHaveProperty('leavesChoice')
    const batch = `{"requests":[{"params":{"model":"a","max_tokens":9,${word}}}]}`
    expect(inspect(`${messages}/batches`, batch).found).toMatchObject({ leavesChoice: true })
    const socket = findLane(responses)!.match('SOCKET', '/responses')!.endpoint.socket!
    expect(socket.ask(Buffer.from(`{"type":"response.create","model":"a",${word}}`))).toMatchObject({
      leavesChoice: true,
    })
    const line = `{"custom_id":"1","method":"POST","url":"${chat}","body":{"model":"a","messages":[],${word}}}`
    expect(readLine(Buffer.from(line))).toContain('must name its models in a batch')
  })

  it('are as many as fifty', () => {
    const names = Array.from({ length: 50 }, (_, at) => `b${at}`)
    const { found } = inspect(chat, `{"model":"a","models":${JSON.stringify(names)}}`)
    expect(found).toMatchObject({ additionalModels: names.map((name) => ({ name })) })
  })

  it.each([
    ['in other letters', '"Models":["b"]', 'must be written `models`'],
    ['in other letters, of a tool', '"tools":[{"model":"b","MODEL":"c"}]', '`MODEL` must be written `model`'],
    ['of a map', '"fallbacks":[{"a":["b"]}]', 'names no model'],
    ['of a map without a list', '"fallbacks":{"b":1}', 'names no model'],
    ['of a list in a list', '"fallbacks":[["b"]]', 'names no model'],
    ['of a list in place of a name', '"fallbacks":[{"model":["b"]}]', 'names no model'],
    ['of a map by another name', '"context_window_fallbacks":[{"a":["b"]}]', '`context_window_fallbacks` would lead'],
    ['with another server', '"fallbacks":[{"model":"b","api_base":"http://x"}]', '`api_base` would lead this call'],
    ...['api_base', 'base_url', 'api_key', 'custom_llm_provider'].map((name) => [
      `at another server: ${name}`,
      `"${name}":"x"`,
      `\`${name}\` would lead this call elsewhere than its route does. Leave it out.`,
    ]),
    ['too long', `"models":["${'b'.repeat(5000)}"]`, 'longer than 512 characters'],
    [
      'with an account of its own',
      '"providerOptions":{"gateway":{"byok":{"openai":[{"apiKey":"x"}]}}}',
      '`providerOptions.gateway.byok` would lead this call',
    ],
    [
      "in other letters, Vercel's",
      '"providerOptions":{"Gateway":{"models":["b"]},"gateway":{}}',
      'must be written `gateway`',
    ],
    ['in two lists', '"models":["b"],"models":["b"]', '`models` is given twice; send it once.'],
    [
      'again and again, Vercel’s',
      `"providerOptions":{"gateway":{"models":[${'"b",'.repeat(5000)}"b"]}}`,
      'models` has more than 5,000',
    ],
    ['again and again', `"models":[${'"b",'.repeat(5000)}"b"]`, '`models` has more than 5,000 entries; send fewer.'],
    ['in too many tools', `"tools":[{"model":"b"}${',{}'.repeat(5000)}]`, '`tools` has more than 5,000 entries'],
    [
      'too many',
      `"models":[${Array.from({ length: 51 }, (_, at) => `"b${at}"`)}]`,
      'names more than 50 models; name fewer.',
    ],
    [
      'by many names of one tool',
      `"tools":[{${'"model":"b",'.repeat(10_000)}"model":"c"}]`,
      'too many to look through',
    ],
  ])('are refused: %s', (_what, member, message) => {
    const { found } = inspect(chat, `{"model":"a",${member}}`)
    expect(found).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(message) })
  })

  it('are looked for in as many as 5,000 entries', () => {
    const { found } = inspect(chat, `{"model":"a","models":[${'"b",'.repeat(4999)}"c"]}`)
    expect(found).toMatchObject({ additionalModels: [{ name: 'b' }, { name: 'c' }] })
  })

  it('are asked for in each request of a batch, too', () => {
    const params = (model: string, more: object) => ({ custom_id: model, params: { model, max_tokens: 9, ...more } })
    const requests = [
      params('a', { fallbacks: [{ model: 'b' }] }),
      params('c', {
        tools: [
          { type: 'x', model: 'd' },
          { type: 'y', model: 'c' },
        ],
      }),
    ]
    const { found, patched } = inspect(`${messages}/batches`, JSON.stringify({ requests }))
    expect(found).toMatchObject({ model: 'a', additionalModels: ['b', 'c', 'd'].map((name) => ({ name })) })
    expect(patched(['B', 'C', 'D']).match(/"model":"\w+"/g)).toEqual(
      ['new', 'B', 'C', 'D', 'C'].map((name) => `"model":"${name}"`),
    )
    const elsewhere = inspect(`${messages}/batches`, JSON.stringify({ requests: [params('a', { api_base: 'x' })] }))
    expect(elsewhere.found).toMatchObject({ code: 'invalid_request' })
  })

  it('are asked for in a line of a batch, too', () => {
    const body = { model: 'a', messages: [], models: ['b'], fallbacks: ['c'], tools: [{ type: 'x', model: 'd' }] }
    const line = Buffer.from(JSON.stringify({ custom_id: '1', method: 'POST', url: chat, body }))
    expect(readLine(line)).toMatchObject({ models: ['a', 'b', 'c', 'd'] })
  })

  it('are asked for in a frame, too', () => {
    const socket = findLane(responses)!.match('SOCKET', '/responses')!.endpoint.socket!
    const frame = '{"type":"response.create","model":"a","models":["b"],"tools":[{"type":"x","model":"c"}]}'
    const ask = socket.ask(Buffer.from(frame)) as FrameAsk
    expect(ask).toMatchObject({ model: { name: 'a' }, additionalModels: [{ name: 'b' }, { name: 'c' }] })
  })
})
