import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import type { JsonObject } from '../../src/core/json/json-value.ts'
import type { ModelReply } from '../../src/translate/reply.ts'
import { codecOf, isFault } from '../support/translate/stage.ts'

const token = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }
const result = { chosenCandidates: [{ token: 'a', logProbability: -1 }] }

function readWhole(format: FormatName, body: JsonObject): ModelReply {
  const reply = codecOf(format).readReply(body)
  if (isFault(reply)) throw new Error(reply.message)
  return reply
}

function streamed(format: FormatName, ...chunks: JsonObject[]) {
  const reader = codecOf(format).openReader()
  return [...chunks.flatMap((chunk) => reader.event('', chunk)), ...reader.end()]
}

const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const choice = (member: 'message' | 'delta', content: JsonObject, logprobs: JsonObject) => ({
  choices: [{ index: 0, [member]: content, logprobs, finish_reason: null }],
})
const candidate = (parts: JsonObject[], more: JsonObject = {}) => ({ candidates: [{ content: { parts }, ...more }] })

describe('probabilities of tokens that are of no text are named as lost', () => {
  it.each<[string, JsonObject, JsonObject, string]>([
    ['of calls', { content: null, tool_calls: [call] }, { content: [token] }, 'choices.logprobs'],
    ['of a refusal', { refusal: 'No' }, { refusal: [token] }, 'choices.logprobs.refusal'],
    [
      'of what DeepSeek thought',
      { content: 'a', reasoning_content: 'Hm' },
      { content: [token], reasoning_content: [token] },
      'choices.logprobs.reasoning_content',
    ],
  ])('%s', (_what, said, logprobs, name) => {
    expect(readWhole('chat', choice('message', said, logprobs)).dropped).toEqual([name])
    expect(streamed('chat', choice('delta', said, logprobs))).toContainEqual({ kind: 'dropped', name })
  })

  it('of thoughts', () => {
    const body = candidate([{ text: 'Hm', thought: true }], { logprobsResult: result, finishReason: 'STOP' })
    expect(readWhole('generate', body).dropped).toEqual(['logprobsResult'])
    expect(streamed('generate', body)).toContainEqual({ kind: 'dropped', name: 'logprobsResult' })
  })
})

describe('several texts of Gemini with one list of tokens', () => {
  const tokens = (...texts: string[]) => ({
    chosenCandidates: texts.map((text) => ({ token: text, logProbability: -1 })),
  })
  const call = { functionCall: { name: 'f', args: {} } }
  const parts = [{ text: 'Let me ' }, { text: 'see.' }, call, { text: 'Done' }]
  const tokensOf = (one: { logprobs?: readonly { token: string }[] }) => one.logprobs?.map(({ token: text }) => text)

  it.each<[string, string[], (string[] | undefined)[]]>([
    [
      'each has its own',
      ['Let ', 'me ', 'see', '.', 'Do', 'ne'],
      [
        ['Let ', 'me ', 'see', '.'],
        ['Do', 'ne'],
      ],
    ],
    ['a token of two texts is where it begins', ['Let me ', 'see.D', 'one'], [['Let me ', 'see.D'], ['one']]],
    [
      'all are at the first where they say another text',
      ['<s>', 'Let me see.', 'Done'],
      [['<s>', 'Let me see.', 'Done'], undefined],
    ],
  ])('%s', (_what, said, expected) => {
    const body = candidate(parts, { logprobsResult: tokens(...said), finishReason: 'STOP' })
    const texts = readWhole('generate', body).parts.filter((part) => part.kind === 'text')
    expect(texts.map(tokensOf)).toEqual(expected)
    const before = new Map<number, string[]>()
    for (const event of streamed('generate', body)) {
      if (event.kind === 'text') before.set(event.part, [...(before.get(event.part) ?? []), ...(tokensOf(event) ?? [])])
    }
    expect([...before.values()]).toEqual(expected.map((one) => one ?? []))
  })
})

describe('a provider that sends a place for them and nothing in it', () => {
  const empty = { content: [], refusal: null }

  it.each<[FormatName, JsonObject]>([
    ['chat', choice('delta', { content: 'a' }, empty)],
    ['generate', candidate([{ text: 'a' }], { logprobsResult: { chosenCandidates: [] } })],
    ['responses', { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'a', logprobs: [] }],
  ])('%s: adds nothing to the text', (format, chunk) => {
    const events = streamed(format, chunk)
    expect(events.find(({ kind }) => kind === 'text')).toStrictEqual({ kind: 'text', part: 0, text: 'a' })
    expect(events.some(({ kind }) => kind === 'dropped')).toBe(false)
  })

  it('is the same in a whole answer', () => {
    const reply = readWhole('chat', choice('message', { content: 'a' }, empty))
    expect(reply.parts).toStrictEqual([{ kind: 'text', path: 'message.content', text: 'a' }])
    expect(reply.dropped).toEqual([])
  })
})
