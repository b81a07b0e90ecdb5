import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ContentRule } from '../../../src/core/policies/content-rules.ts'
import { ContentPlane, contentRule, keyPolicy, postJson } from '../../support/content-plane.ts'
import {
  call,
  chatOf,
  fragments,
  gemini,
  message,
  messages,
  openai,
  texts,
  usage,
} from '../../support/shows/lane-streams.ts'
import { type Answer, cuts, json } from '../../support/shows/streams.ts'

const key = 'sk-proj-Abc123Def456Ghi789'
const mail = 'jane@example.com'

const rule = (name: string, parts: Partial<ContentRule>) => contentRule(name, ['answer'], parts)

const policies = [
  keyPolicy('blocks', { contentRules: [rule('keys', { detector: 'secrets' })] }),
  keyPolicy('masks', { contentRules: [rule('keys', { detector: 'secrets', action: 'redact' })] }),
  keyPolicy('flags', { contentRules: [rule('keys', { detector: 'secrets', action: 'flag' })] }),
  keyPolicy('numbers', {
    contentRules: [
      rule('cards', { detector: 'card-numbers', action: 'redact' }),
      rule('pins', { pattern: '7311', action: 'redact' }),
    ],
  }),
  keyPolicy('broken', { contentRules: [rule('bad', { pattern: '(a', action: 'flag' })] }),
  keyPolicy('returns', {
    contentRules: [rule('mail', { detector: 'email-addresses', action: 'redact', on: ['prompt'], reversible: true })],
  }),
]

let stage: ContentPlane
let sent: Answer
let received = ''
let status = 200
let coding: string | null = null

beforeAll(async () => {
  stage = await ContentPlane.start(
    async (request, response) => {
      received = Buffer.concat(await request.toArray()).toString()
      response.writeHead(status, { 'content-type': sent.type, ...(coding !== null && { 'content-encoding': coding }) })
      response.end(sent.text)
    },
    { policies },
  )
  stage.plane.ownAll()
})
afterAll(async () => await stage.stop())

async function ask(policy: string, path: string, body: object, answer: Answer) {
  sent = answer
  return await stage.send(policy, path, postJson(body))
}

const said = `It is ${key}, as asked.`
const hidden = `{"a":1,"k":"${key.replace('k', '\\u006b')}","b":[true]}`

describe.each(Object.entries(texts))('a secret in %s', (_, { path, body, answer, read }) => {
  it('litellm PR 20027, litellm 41611: is redacted wherever it is cut, as in the whole text', async () => {
    for (const pieces of cuts(said)) {
      const { text } = await ask('masks', path, body, answer(pieces))
      expect(text).not.toContain('sk-')
      expect(read(text)).toBe('It is [KEY_1], as asked.')
    }
  })

  it('leaves nothing of itself where the text ends with it, nor in the probabilities of its tokens', async () => {
    for (const pieces of cuts(`It is ${key}`).filter((__, at) => at % 3 === 0)) {
      const { text } = await ask('masks', path, body, answer(pieces))
      expect(text).not.toMatch(/sk-proj|Abc123|Def456|Ghi789/)
      expect(read(text)).toBe('It is [KEY_1]')
    }
  })

  it('is redacted in a large event, and what comes behind it keeps its place', async () => {
    const much = 'word '.repeat(30_000)
    const { text } = await ask('numbers', path, body, answer([`${much}7311 and `, '73', '11, ', 'the end.']))
    expect(read(text)).toBe(`${much}[PINS_1] and [PINS_1], the end.`)
  })

  it('is blocked with the error event of the lane, and what came before it passes', async () => {
    for (const pieces of cuts(said).filter((__, at) => at % 5 === 0 || at === said.length)) {
      const { text, record, signals } = await ask('blocks', path, body, answer(pieces))
      expect(text).not.toContain('sk-proj')
      expect(text).toMatch(/does not allow a provider key in the answer/)
      expect(record.error).toMatchObject({ code: 'policy_denied' })
      expect(signals).toMatchObject([{ rule: 'content.block', verdict: 'deny', data: { on: 'answer' } }])
      expect(record.tokens).not.toBeNull()
    }
  })

  it('is redacted behind a byte order mark', async () => {
    const marked = answer([said])
    if (marked.type !== 'text/event-stream') return
    const { text } = await ask('masks', path, body, { ...marked, text: `\ufeff${marked.text}` })
    expect(read(text.replace('\ufeff', ''))).toBe('It is [KEY_1], as asked.')
  })

  it('passes as it came where it is only flagged', async () => {
    const { text, signals } = await ask('flags', path, body, answer([said]))
    expect(text).toContain(said)
    expect(signals[0]).toMatchObject({ rule: 'content.flag', verdict: 'flag' })
  })
})

describe.each(Object.entries(fragments))(
  'a secret in the arguments of a tool, %s',
  (_, { path, body, answer, read }) => {
    it('is redacted wherever it is cut, and the arguments stay JSON', async () => {
      for (const pieces of cuts(hidden)) {
        const { text } = await ask('masks', path, body, answer(pieces))
        expect(text).not.toMatch(/proj-Abc/)
        expect(read(text)).toBe('{"a":1,"k":"[KEY_1]","b":[true]}')
      }
    })

    it('is redacted in JSON within them, wherever it is cut', async () => {
      const inner = `{"k":"s\\u006b-proj-Abc123Def456Ghi789"}`
      const nested = JSON.stringify({ body: inner })
      for (const pieces of cuts(nested)) {
        const { text } = await ask('masks', path, body, answer(pieces))
        expect(text).not.toMatch(/proj-Abc/)
        expect(read(text)).toBe(JSON.stringify({ body: '{"k":"[KEY_1]"}' }))
      }
    })

    it('litellm PR 40784: never reaches a client that would call the tool before the verdict', async () => {
      for (const pieces of [[hidden], [hidden.slice(0, 20), hidden.slice(20)], [...hidden]]) {
        const { text } = await ask('blocks', path, body, answer(pieces))
        expect(read(text)).toBe('')
        expect(text).toContain('does not allow a provider key in the answer')
      }
    })

    it('comes whole where nothing is wrong with them', async () => {
      const good = '{"a":"b\\n"}'
      const { text } = await ask('blocks', path, body, answer([...good]))
      expect(read(text)).toBe(good)
    })
  },
)

describe('a whole answer', () => {
  const cases: [string, string, object, object][] = [
    [
      'a chat',
      '/chat/completions',
      { model: 'openai-model', messages },
      { choices: [{ index: 0, message: { role: 'assistant', content: said, tool_calls: [call(hidden)] } }], usage },
    ],
    [
      'a response',
      '/responses',
      { model: 'openai-model', input: 'hi' },
      { id: 'r', status: 'completed', output: [message(said)], usage: { input_tokens: 1, output_tokens: 2 } },
    ],
    [
      'a message',
      '/anthropic/v1/messages',
      { model: 'anthropic-model', max_tokens: 9, messages },
      {
        id: 'm',
        type: 'message',
        content: [{ type: 'tool_use', id: 't', name: 'f', input: { k: key } }],
        usage: { input_tokens: 1, output_tokens: 2 },
      },
    ],
    [
      'contents',
      `${gemini}:generateContent`,
      {},
      {
        candidates: [{ content: { parts: [{ functionCall: { name: 'f', args: { k: key } } }] } }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
      },
    ],
  ]
  it.each(cases)('%s is redacted, and refused with its tokens charged', async (_, path, body, answer) => {
    const masked = await ask('masks', path, body, json(answer))
    expect(masked.status).toBe(200)
    expect(masked.text).not.toContain('proj-Abc')
    expect(masked.text).toContain('[KEY_1]')
    expect(() => JSON.parse(masked.text)).not.toThrow()
    const blocked = await ask('blocks', path, body, json(answer))
    expect(blocked.status).toBe(403)
    expect(blocked.text).not.toContain('proj-Abc')
    expect(blocked.record.tokens).toMatchObject({ source: 'reported' })
  })

  it('is the same however long it is', async () => {
    const long = `${'word '.repeat(20_000)}${said}`
    const answer = json({ choices: [{ index: 0, message: { content: long } }], usage })
    const { text } = await ask('masks', '/chat/completions', { model: 'openai-model', messages }, answer)
    expect(JSON.parse(text).choices[0].message.content).toBe(long.replace(key, '[KEY_1]'))
  })

  describe('that is an error', () => {
    beforeEach(() => {
      status = 400
    })
    afterEach(() => {
      status = 200
      coding = null
    })
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0'
    const failed = json({ error: { message: 'Failed to call a function.', failed_generation: `f(${token})` } })

    it('is looked at as any other', async () => {
      const masked = await ask('masks', openai.path, openai.body, failed)
      expect([masked.status, masked.text]).toEqual([400, failed.text.replace(token, '[TOKEN_1]')])
      const blocked = await ask('blocks', openai.path, openai.body, failed)
      expect([blocked.status, blocked.record.error?.code]).toEqual([403, 'policy_denied'])
      expect(blocked.record.attempts).toMatchObject([{ status: 400, outcome: 'policy_denied' }])
      expect(blocked.text).not.toContain(token)
      expect((await ask('flags', openai.path, openai.body, failed)).text).toBe(failed.text)
    })

    it('is withheld where it comes compressed', async () => {
      coding = 'gzip'
      const { status: got, text } = await ask('masks', openai.path, openai.body, failed)
      expect(got).toBe(403)
      expect(text).toContain('too large, compressed or malformed')
    })
  })

  it('is refused where more is kept of it than of any real one', async () => {
    // Of blanks: nobody looks for anything in them, and they are kept as any other bytes.
    const chunk = (index: number, pad: string) =>
      `data: {${pad}"choices":[{"index":${index},"delta":{"content":"sk-ab"}}]}\n\n`
    const many = (count: number, pad: string) => ({
      type: 'text/event-stream',
      text: `${Array.from({ length: count }, (_, index) => chunk(index, pad)).join('')}data: [DONE]\n\n`,
    })
    const few = await ask('masks', openai.path, openai.body, many(500, ''))
    expect([few.record.error, few.text.match(/"sk-ab"/g)?.length]).toEqual([null, 500])
    for (const answer of [many(2100, ''), many(43, ' '.repeat(400_000))]) {
      const { record } = await ask('masks', openai.path, openai.body, answer)
      expect(record.error).toMatchObject({ code: 'policy_denied', message: expect.stringContaining('texts at once') })
    }
  })

  it('that could not be read is refused', async () => {
    const large = { choices: [{ index: 0, message: { content: 'x'.repeat(17 * 1024 * 1024) } }] }
    const { status } = await ask('masks', '/chat/completions', { model: 'openai-model', messages }, json(large))
    expect(status).toBe(403)
  })

  it('litellm PR 31503: is refused where a rule itself fails', async () => {
    const answer = json({ choices: [], usage, x: 'y' })
    const { status, text } = await ask('broken', '/chat/completions', { model: 'openai-model', messages }, answer)
    expect([status, text.includes('could not check the answer')]).toEqual([403, true])
  })
})

describe('a number among the arguments of a tool', () => {
  const card = 4242424242424242
  const streamed = (functionCall: object) =>
    json([{ candidates: [{ index: 0, content: { parts: [{ functionCall }] }, finishReason: 'STOP' }] }])
  it.each([
    ['in an object', { name: 'f', args: { k: card } }],
    ['by its place', { name: 'f', partialArgs: [{ jsonPath: '$.k', numberValue: card }] }],
    ['of four digits', { name: 'f', args: { k: 7311 } }],
  ])('is looked at, %s', async (_, functionCall) => {
    const { text } = await ask('numbers', `${gemini}:streamGenerateContent`, {}, streamed(functionCall))
    expect(text).not.toMatch(/4242|7311/)
    expect(text).toMatch(/\[(?:CARD|PINS)_1\]/)
  })
})

describe('an event of more than 1 MiB', () => {
  it('is refused, since it would pass in pieces', async () => {
    const { text } = await ask(
      'masks',
      openai.path,
      openai.body,
      chatOf((content) => ({ content }))(['a ', 'x'.repeat(1_100_000)]),
    )
    expect(text).toContain('one of its events is too large')
    expect(text.length).toBeLessThan(10_000)
  })
})

describe('a placeholder of the prompt', () => {
  const asked = { role: 'user', content: `Write to ${mail}.` }
  it.each(Object.entries(texts))(
    'becomes what it stands for in %s, wherever it is cut',
    async (_, { path, body, answer, read }) => {
      const prompt =
        'messages' in body
          ? { ...body, messages: [asked] }
          : 'input' in body
            ? { ...body, input: asked.content }
            : 'prompt' in body
              ? { ...body, prompt: asked.content }
              : 'thread' in body
                ? { ...body, thread: { messages: [asked] } }
                : { contents: [{ parts: [{ text: asked.content }] }] }
      for (const pieces of cuts('To [EMAIL_1] now, [EMAIL_2]')) {
        const { text } = await ask('returns', path, prompt, answer(pieces))
        expect(received).toContain('Write to [EMAIL_1].')
        expect(received).not.toContain(mail)
        expect(read(text)).toBe(`To ${mail} now, [EMAIL_2]`)
      }
    },
  )

  it.each(Object.entries(fragments))(
    'becomes it in the arguments of a tool, %s',
    async (_, { path, body, answer, read }) => {
      const prompt = 'messages' in body ? { ...body, messages: [asked] } : { ...body, input: asked.content }
      const { text } = await ask('returns', path, prompt, answer([...'{"to":"[EMAIL_1]"}']))
      expect(read(text)).toBe(`{"to":"${mail}"}`)
    },
  )
})
