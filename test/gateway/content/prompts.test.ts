import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContentRule } from '../../../src/core/policies/content-rules.ts'
import { ContentPlane, contentRule, keyPolicy, postJson } from '../../support/content-plane.ts'

const key = 'sk-proj-Abc123Def456Ghi789'

const rule = (name: string, parts: Partial<ContentRule>) => contentRule(name, ['prompt'], parts)

const policies = [
  keyPolicy('blocks', { contentRules: [rule('keys', { detector: 'secrets' })] }),
  keyPolicy('masks', {
    contentRules: [
      rule('keys', { detector: 'secrets', action: 'redact' }),
      rule('people', { detector: 'personal', action: 'redact' }),
    ],
  }),
  keyPolicy('flags', { contentRules: [rule('people', { detector: 'email-addresses', action: 'flag' })] }),
  keyPolicy('denies', { denyPatterns: ['(?i)project\\s+zeus'] }),
  keyPolicy('broken', { contentRules: [rule('bad', { pattern: '(a', action: 'flag' })] }),
]

let stage: ContentPlane
const received: string[] = []

beforeAll(async () => {
  stage = await ContentPlane.start(
    async (request, response) => {
      received.push(Buffer.concat(await request.toArray()).toString())
      response.setHeader('content-type', 'application/json').end('{"choices":[]}')
    },
    { policies },
  )
})
afterAll(async () => await stage.stop())

const chat = '/chat/completions'
const generate = '/gemini/v1beta/models/gemini-model:generateContent'

/** `sent`: what the provider got; null: nothing. */
async function send(policy: string, path: string, body: string) {
  received.length = 0
  const answer = await stage.send(policy, path, postJson(body))
  return { ...answer, sent: received[0] ?? null }
}

/** Every place in which a prompt of a lane has text. SECRET stands for it. */
const places: [what: string, path: string, body: string, at: string][] = [
  ['a chat', chat, '{"model":"openai-model","messages":[{"role":"user","content":"SECRET"}]}', 'messages[0].content'],
  [
    'a part of a chat',
    chat,
    '{"model":"openai-model","messages":[{"role":"user","content":[{"type":"text","text":"x SECRET y"}]}]}',
    'messages[0].content[0].text',
  ],
  [
    'the arguments of a tool call',
    chat,
    '{"model":"openai-model","messages":[{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\\"k\\": \\"SECRET\\"}"}}]}]}',
    'messages[0].tool_calls[0].function.arguments',
  ],
  [
    'the result of a tool',
    chat,
    '{"model":"openai-model","messages":[{"role":"tool","tool_call_id":"c1","content":"SECRET"}]}',
    'messages[0].content',
  ],
  [
    'the description of a tool',
    chat,
    '{"model":"openai-model","messages":[],"tools":[{"type":"function","function":{"name":"f","description":"SECRET"}}]}',
    'tools[0].function.description',
  ],
  [
    'the name of a parameter',
    chat,
    '{"model":"openai-model","messages":[],"tools":[{"type":"function","function":{"name":"f","parameters":{"properties":{"SECRET":{"type":"string"}}}}}]}',
    'tools[0].function.parameters.properties.*',
  ],
  [
    'the name of a member that an answer must have',
    chat,
    '{"model":"openai-model","messages":[],"response_format":{"type":"json_schema","json_schema":{"schema":{"properties":{"SECRET":{}}}}}}',
    'response_format.json_schema.schema.properties.*',
  ],
  ['an embedding', '/embeddings', '{"model":"openai-model","input":["a","SECRET"]}', 'input[1]'],
  ['a legacy completion', '/completions', '{"model":"openai-model","prompt":"SECRET"}', 'prompt'],
  ['a moderation', '/moderations', '{"model":"openai-model","input":"SECRET"}', 'input'],
  ['speech', '/audio/speech', '{"model":"openai-model","voice":"alloy","input":"SECRET"}', 'input'],
  ['instructions', '/responses', '{"model":"openai-model","instructions":"SECRET","input":"hi"}', 'instructions'],
  [
    'the output of a function',
    '/responses',
    '{"model":"openai-model","input":[{"type":"function_call_output","call_id":"c","output":"SECRET"}]}',
    'input[0].output',
  ],
  [
    'a system prompt',
    '/anthropic/v1/messages',
    '{"model":"anthropic-model","max_tokens":9,"system":"SECRET","messages":[]}',
    'system',
  ],
  [
    'the input of a tool',
    '/anthropic/v1/messages',
    '{"model":"anthropic-model","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"k":["SECRET"]}}]}]}',
    'messages[0].content[0].input.k[0]',
  ],
  [
    'the result of a tool in blocks',
    '/anthropic/v1/messages',
    '{"model":"anthropic-model","max_tokens":9,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"SECRET"}]}]}]}',
    'messages[0].content[0].content[0].text',
  ],
  [
    'a count of tokens',
    '/anthropic/v1/messages/count_tokens',
    '{"model":"anthropic-model","messages":[{"role":"user","content":"SECRET"}]}',
    'messages[0].content',
  ],
  ['contents', generate, '{"contents":[{"parts":[{"text":"SECRET"}]}]}', 'contents[0].parts[0].text'],
  [
    'a system instruction',
    generate,
    '{"systemInstruction":{"parts":[{"text":"SECRET"}]}}',
    'systemInstruction.parts[0].text',
  ],
  [
    'the response of a function',
    generate,
    '{"contents":[{"parts":[{"functionResponse":{"name":"f","response":{"k":"SECRET"}}}]}]}',
    'contents[0].parts[0].functionResponse.response.k',
  ],
]

describe('a secret in a prompt', () => {
  it.each(places)('is blocked in %s before anything is sent', async (_, path, body, at) => {
    const { status, text, sent, signals, headers } = await send('blocks', path, body.replace('SECRET', key))
    expect(status).toBe(403)
    expect(sent).toBeNull()
    expect(headers.get('x-sp-error')).toBe('policy_denied')
    expect(text).toContain(`The content rule keys of the policy blocks does not allow a provider key in ${at}.`)
    expect(text).not.toContain('sk-proj')
    expect(signals).toMatchObject([
      { rule: 'content.block', verdict: 'deny', data: { policy: 'blocks', content_rule: 'keys', on: 'prompt', at } },
    ])
  })

  it.each(places)('is redacted in %s, and every other byte stays', async (_, path, body, at) => {
    const { status, sent, signals } = await send('masks', path, body.replace('SECRET', key))
    expect(status).toBe(200)
    expect(sent).toBe(body.replace('SECRET', '[KEY_1]'))
    expect(signals).toMatchObject([
      { rule: 'content.redact', verdict: 'note', data: { content_rule: 'keys', at, places: 1 } },
    ])
  })

  it('counts only where it was redacted, and stays in what names things', async () => {
    const named = `{"model":"openai-model","user":"${key}","messages":[{"role":"user","content":"SECRET"}]}`
    const { sent, signals } = await send('masks', chat, named.replace('SECRET', key))
    expect(sent).toBe(named.replace('SECRET', '[KEY_1]'))
    expect(signals).toMatchObject([{ rule: 'content.redact', data: { at: 'messages[0].content', places: 1 } }])
    const left = await send('masks', chat, named)
    expect([left.sent, left.signals]).toEqual([named, []])
    expect(await send('blocks', chat, named)).toMatchObject({ status: 403, sent: null })
    // In two parts of a thought that its provider has signed, and of one that it has not.
    const [half, rest] = [key.slice(0, 15), key.slice(15)]
    const thought = (signature: string) =>
      `{"contents":[{"role":"model","parts":[{"thought":true,"text":"${half}"${signature}},{"thought":true,"text":"${rest}"${signature}}]}]}`
    const signed = await send('masks', generate, thought(',"thoughtSignature":"c2ln"'))
    expect([signed.sent, signed.signals]).toEqual([thought(',"thoughtSignature":"c2ln"'), []])
    expect((await send('masks', generate, thought(''))).signals).toMatchObject([{ data: { places: 1 } }])
  })

  it('is found however it is escaped', async () => {
    const hidden = [...key].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('')
    const body = `{"model":"openai-model", "messages":[{"role":"user","content":"1\\t${hidden} \\u00e9"}]}`
    expect((await send('blocks', chat, body)).status).toBe(403)
    expect((await send('masks', chat, body)).sent).toBe(
      '{"model":"openai-model", "messages":[{"role":"user","content":"1\\t[KEY_1] é"}]}',
    )
  })

  it('is found in JSON within JSON, however deep it is escaped there', async () => {
    const letter = String.raw`s\u006b-proj-Abc123Def456Ghi789`
    for (const inner of [{ k: letter }, { k: JSON.stringify({ deeper: letter }) }]) {
      const text = JSON.stringify(inner).replaceAll('\\\\u', '\\u')
      const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: JSON.stringify({ body: text }) } }
      const body = JSON.stringify({ model: 'openai-model', messages: [{ role: 'assistant', tool_calls: [call] }] })
      expect((await send('blocks', chat, body)).status).toBe(403)
      const { sent } = await send('masks', chat, body)
      expect(sent).toContain('[KEY_1]')
      expect(sent).not.toContain('proj-Abc')
    }
  })

  it.each([
    [
      'a chat',
      chat,
      (parts: object[]) => ({
        model: 'openai-model',
        messages: [{ role: 'user', content: parts.map((part) => ({ type: 'text', ...part })) }],
      }),
    ],
    ['contents', generate, (parts: object[]) => ({ contents: [{ parts }] })],
  ])('is found where two parts of %s share it', async (_, path, bodyOf) => {
    for (const cut of [1, 9, 20]) {
      const [one, two] = [`My key is ${key.slice(0, cut)}`, `${key.slice(cut)}, keep it.`]
      const body = JSON.stringify(bodyOf([{ text: one }, { text: two }, { text: 'Bye' }]))
      const blocked = await send('blocks', path, body)
      expect(blocked.status).toBe(403)
      const { sent } = await send('masks', path, body)
      expect(sent).toContain('My key is [KEY_1]')
      expect(sent).not.toContain(key.slice(0, cut).padEnd(3, '-'))
      expect(sent).toContain('keep it.')
    }
  })

  it('is found in metadata whatever its name and form', async () => {
    const long = `${'a'.repeat(300)}+${key.replaceAll('-', '_')}`
    const card = `4242424242424242${'/'.repeat(300)}`
    const body = (data: string) => JSON.stringify({ model: 'openai-model', messages: [], metadata: { data } })
    expect((await send('masks', chat, body(card))).sent).toBe(body(card.replace(/^\d+/, '[CARD_1]')))
    expect((await send('masks', chat, body(long))).signals.map(({ rule: name }) => name)).not.toContain(
      'content.unseen',
    )
  })

  it('is found behind a member that comes twice', async () => {
    const body = `{"model":"openai-model","messages":[{"content":"${key}","role":"user","content":"x"}]}`
    expect((await send('blocks', chat, body)).status).toBe(403)
  })
})

describe('a prompt', () => {
  const mail = 'jane@example.com'
  const body = `{"model":"openai-model","messages":[{"role":"user","content":"${mail}, joe@example.com and ${mail}"}]}`

  it('gives the same value the same placeholder', async () => {
    const { sent, signals } = await send('masks', chat, body)
    expect(sent).toContain('"[EMAIL_1], [EMAIL_2] and [EMAIL_1]"')
    expect(signals).toMatchObject([{ data: { content_rule: 'people', places: 3 } }])
    expect(JSON.stringify(signals)).not.toContain('example.com')
  })

  it('that has a placeholder itself keeps it apart', async () => {
    const { sent } = await send('masks', chat, body.replace('and', '[EMAIL_1]'))
    expect(sent).toContain('"[EMAIL_2], [EMAIL_3] [EMAIL_1] [EMAIL_2]"')
  })

  it('that is flagged passes as it is', async () => {
    const { sent, signals } = await send('flags', chat, body)
    expect(sent).toBe(body)
    expect(signals).toMatchObject([{ rule: 'content.flag', verdict: 'flag', data: { places: 3 } }])
  })

  it('with a denied pattern is blocked', async () => {
    const asked = body.replace('and', 'Project \\n Zeus')
    const { status, text } = await send('denies', chat, asked)
    expect(status).toBe(403)
    expect(text).toContain('deny-pattern-1 of the policy denies does not allow a match of its pattern')
    expect((await send('denies', chat, body)).sent).toBe(body)
  })

  it('keeps the name of its model and its end user', async () => {
    const asked = `{"model":"openai-model","user":"${mail}","messages":[]}`
    const { sent, signals } = await send('masks', chat, asked)
    expect(sent).toBe(asked)
    expect(signals).toEqual([])
  })

  it('keeps reasoning that is signed', async () => {
    const asked = `{"model":"anthropic-model","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"${mail}","signature":"abc"}]}]}`
    expect((await send('masks', '/anthropic/v1/messages', asked)).sent).toBe(asked)
    const thought = `{"contents":[{"role":"model","parts":[{"text":"${mail}","thought":true,"thoughtSignature":"abc"}]}]}`
    expect((await send('masks', generate, thought)).sent).toBe(thought)
  })

  it.each([
    [
      chat,
      `{"type":"thinking","signature":"x","model":"openai-model","messages":[{"role":"user","content":"${mail}"}]}`,
    ],
    [
      chat,
      `{"model":"openai-model","messages":[{"role":"user","type":"thinking","signature":"x","content":"${mail}"}]}`,
    ],
    [
      chat,
      `{"model":"openai-model","messages":[{"role":"user","content":[{"type":"thinking","signature":"x","thinking":"${mail}"}]}]}`,
    ],
    [generate, `{"contents":[{"role":"user","thought":true,"thoughtSignature":"x","parts":[{"text":"${mail}"}]}]}`],
    [generate, `{"contents":[{"role":"model","parts":[{"text":"${mail}","thought":false,"thoughtSignature":"x"}]}]}`],
  ])('is no signed reasoning because it says so: %s %s', async (path, asked) => {
    expect((await send('masks', path, asked)).sent).toBe(asked.replace(mail, '[EMAIL_1]'))
  })

  it('is text where it only begins as a file does', async () => {
    const asked = `{"model":"openai-model","messages":[{"role":"user","content":[{"type":"text","url":"data:;base64,to ${mail}"}]}]}`
    expect((await send('masks', chat, asked)).sent).toBe(asked.replace(mail, '[EMAIL_1]'))
  })

  it('is looked at only where it is text, and the record says so', async () => {
    const image = `data:image/png;base64,${Buffer.from('x'.repeat(400)).toString('base64')}`
    const asked = `{"model":"openai-model","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"${image}"}}]}]}`
    const { sent, signals } = await send('masks', chat, asked)
    expect(sent).toBe(asked)
    expect(signals).toMatchObject([{ rule: 'content.unseen', verdict: 'note', data: { on: 'prompt' } }])
    const tokens = await send('masks', '/embeddings', '{"model":"openai-model","input":[[1,2],[3]]}')
    expect(tokens.signals).toMatchObject([{ rule: 'content.unseen' }])
  })

  it('litellm PR 31503: is blocked where a rule itself fails', async () => {
    const { status, sent, text } = await send('broken', chat, body)
    expect([status, sent]).toEqual([403, null])
    expect(text).toContain('A content rule could not check the prompt, so it is blocked')
  })

  it('of many megabytes is looked through', async () => {
    const long = `{"model":"openai-model","messages":[{"role":"user","content":"${'word '.repeat(500_000)}${key}"}]}`
    const { sent } = await send('masks', chat, long)
    expect(sent).toBe(long.replace(key, '[KEY_1]'))
  })
})
