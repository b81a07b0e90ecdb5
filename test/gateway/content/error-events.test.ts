import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ContentPlane, contentRule, keyPolicy, postJson } from '../../support/content-plane.ts'
import { gemini, messages, openai } from '../../support/shows/lane-streams.ts'
import { type Answer, json } from '../../support/shows/streams.ts'

const policies = (['block', 'redact', 'flag'] as const).map((action) =>
  keyPolicy(action, { contentRules: [contentRule('addresses', ['answer'], { detector: 'email-addresses', action })] }),
)
const mailRule = { detector: 'email-addresses', action: 'redact', reversible: true } as const
policies.push(
  keyPolicy('prompts', {
    contentRules: [contentRule('addresses', ['prompt'], { detector: 'email-addresses', action: 'redact' })],
  }),
  keyPolicy('returns', { contentRules: [contentRule('keys', ['prompt'], mailRule)] }),
)

let stage: ContentPlane
let sent: Answer
let status = 200

beforeAll(async () => {
  stage = await ContentPlane.start(
    async (request, response) => {
      await request.toArray()
      response.writeHead(status, { 'content-type': sent.type }).end(sent.text)
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

describe('an error in a stream, before any content', () => {
  // Earlier failures put providers into cooldown.
  beforeEach(() => {
    for (const at of [0, 1, 2]) stage.plane.heal(at)
  })
  // No key: those are hidden whatever rules say.
  const address = 'john@example.com'
  const says = `No such thing: ${address}.`
  const event = (data: object) => ({ type: 'text/event-stream', text: `data: ${JSON.stringify(data)}\n\n` })
  const googles = (code: number) => ({
    error: { code, status: code < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL', message: says },
  })
  const errors: Record<string, [path: string, body: object, answer: (status: number) => Answer]> = {
    chat: [openai.path, openai.body, (code) => event({ error: { message: says, code } })],
    completions: [
      '/completions',
      { model: 'openai-model', stream: true, prompt: 'hi' },
      (code) => event({ error: { message: says, code } }),
    ],
    responses: [
      '/responses',
      { model: 'openai-model', stream: true, input: 'hi' },
      (code) => event({ type: 'error', code: code < 500 ? 'invalid_prompt' : 'server_error', message: says }),
    ],
    'a failed response': [
      '/responses',
      { model: 'openai-model', stream: true, input: 'hi' },
      (code) =>
        event({
          type: 'response.failed',
          response: {
            id: 'r',
            status: 'failed',
            error: { code: code < 500 ? 'invalid_prompt' : 'server_error', message: says },
          },
        }),
    ],
    images: [
      '/images/generations',
      { model: 'openai-model', stream: true, prompt: 'hi' },
      (code) => event({ type: 'error', error: { code, message: says } }),
    ],
    messages: [
      '/anthropic/v1/messages',
      { model: 'anthropic-model', max_tokens: 9, stream: true, messages },
      (code) =>
        event({ type: 'error', error: { type: code < 500 ? 'invalid_request_error' : 'api_error', message: says } }),
    ],
    gemini: [`${gemini}:streamGenerateContent?alt=sse`, {}, (code) => event(googles(code))],
    'the array of gemini': [`${gemini}:streamGenerateContent`, {}, (code) => json([googles(code)])],
    interactions: [
      '/gemini/v1beta/interactions',
      { model: 'gemini-model', stream: true, input: 'hi' },
      (code) =>
        event({ event_type: 'error', error: { code: code < 500 ? 'invalid_argument' : 'internal', message: says } }),
    ],
  }

  it.each(Object.entries(errors).flatMap(([name, each]) => [400, 500].map((code) => [name, code, ...each] as const)))(
    'is looked at as any other: %s, %i',
    async (_name, code, path, body, answer) => {
      const flagged = await ask('flag', path, body, answer(code))
      expect(flagged.text).toContain(address)
      const masked = await ask('redact', path, body, answer(code))
      expect(masked.text).not.toContain(address)
      expect(masked.text).toContain('No such thing: [EMAIL_1]')
      const blocked = await ask('block', path, body, answer(code))
      expect(blocked.text).not.toContain(address)
      expect(blocked.record.error?.code).toBe('policy_denied')
      // Nor does a record keep what rules hide, however often it says it.
      expect(JSON.stringify(flagged.record)).toContain(address)
      expect(JSON.stringify(masked.record)).not.toContain(address)
      expect(JSON.stringify(masked.record)).toContain('[EMAIL_1]')
      expect(JSON.stringify(blocked.record)).not.toContain(address)
    },
  )

  it('is hidden in the record where it comes in the midst of a stream, by a rule for prompts as well', async () => {
    const content = { id: 'c', model: 'openai-model', choices: [{ index: 0, delta: { content: 'x' } }] }
    const text = [content, { error: { message: says, code: 500 } }].map((each) => `data: ${JSON.stringify(each)}\n\n`)
    for (const policy of ['redact', 'block', 'prompts']) {
      const { record } = await ask(policy, openai.path, openai.body, { type: 'text/event-stream', text: text.join('') })
      expect(JSON.stringify(record)).not.toContain(address)
      expect(record.error?.message).toContain(policy === 'block' ? 'does not allow an email address' : '[EMAIL_1]')
    }
  })

  it('is hidden where the provider refuses the credential in so many words', async () => {
    status = 401
    const { record, text } = await ask('redact', openai.path, openai.body, json({ error: { message: says } }))
    status = 200
    expect(text).not.toContain(address)
    expect(record.error?.code).toBe('provider_credential_rejected')
    expect(JSON.stringify(record)).not.toContain(address)
    expect(record.error?.message).toContain('[EMAIL_1]')
  })

  it.each([400, 500])('has its placeholders in the record, which never holds what they stand for: %i', async (code) => {
    const body = { ...openai.body, messages: [{ role: 'user', content: 'I am jane@example.com.' }] }
    const { text, record } = await ask(
      'returns',
      openai.path,
      body,
      event({ error: { message: 'No [EMAIL_1].', code } }),
    )
    expect(JSON.stringify(record)).not.toContain('jane@')
    expect(JSON.stringify(record)).toContain('No [EMAIL_1].')
    expect(text).toContain(code === 400 ? 'No jane@example.com.' : 'No [EMAIL_1].')
  })
})
