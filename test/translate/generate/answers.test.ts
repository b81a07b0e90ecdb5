import { describe, expect, it } from 'vitest'
import { asArray, asObject } from '../../../src/core/json/json-value.ts'
import { request } from '../../support/translate/asked.ts'
import { block, callChunk, chatChunk, messageEvents } from '../../support/translate/chunks.ts'
import { chunk, toClient } from '../../support/translate/generate-parts.ts'
import { checkStream } from '../../support/translate/grammar.ts'
import { readGenerateWithSdk } from '../../support/translate/openai-google-sdk.ts'
import { readChatWithSdk } from '../../support/translate/sdk.ts'
import type { SentEvent } from '../../support/translate/sse.ts'
import { readSse } from '../../support/translate/sse.ts'
import {
  codecOf,
  isFault,
  translateEvents,
  translateReply,
  translateRequest,
  writeContext,
} from '../../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

function droppedOf(events: readonly SentEvent[]): string[] {
  const reader = codecOf('generate').openReader()
  const read = events.flatMap(({ data }) => reader.event('', data ?? {}))
  return [...read, ...reader.end()].flatMap((event) => (event.kind === 'dropped' ? [event.name] : []))
}

describe('answers', () => {
  it('say what was cited by its place alone, where many citations are each of the whole text', () => {
    const content = 'x'.repeat(10_000)
    const url_citation = { url: 'https://a.example', title: 't', start_index: 0, end_index: content.length }
    const annotations = Array.from({ length: 1000 }, () => ({ type: 'url_citation', url_citation }))
    const message = { role: 'assistant', content, annotations }
    const reply = codecOf('chat').readReply({ id: 'x', choices: [{ index: 0, finish_reason: 'stop', message }] })
    if (isFault(reply)) throw new Error(reply.message)
    const written = codecOf('generate').writeReply(reply, writeContext())
    const [candidate] = asArray(written.candidates)
    const supports = asArray(asObject(asObject(candidate)?.groundingMetadata)?.groundingSupports).map(asObject)
    expect(supports).toHaveLength(1000)
    expect(supports[0]).toMatchObject({ segment: { startIndex: 0, endIndex: 10_000, text: content } })
    expect(supports[999]?.segment).toEqual({ startIndex: 0, endIndex: 10_000 })
    expect(JSON.stringify(written).length).toBeLessThan(300_000)
  })

  const calls = [{ functionCall: { name: 'f', args: { n: 1 } } }, { functionCall: { name: 'g', args: {} } }]

  it('litellm PR 25411, litellm 39796: calls that come whole, several in a chunk, keep their arguments', async () => {
    const written = toClient('chat', [
      chunk([{ text: 'I call.' }]),
      chunk(calls),
      chunk([{ text: '' }], { finishReason: 'STOP' }),
    ])
    expect(await readChatWithSdk(written)).toMatchObject({
      text: 'I call.',
      calls: [
        ['f', { n: 1 }],
        ['g', {}],
      ],
      stop: 'tool_calls',
    })
  })

  it('litellm 34692: STOP after calls is a stop for calls', () => {
    for (const client of ['chat', 'messages', 'responses'] as const) {
      const written = toClient(client, [chunk(calls, { finishReason: 'STOP' })])
      const reason = {
        chat: '"finish_reason":"tool_calls"',
        messages: '"stop_reason":"tool_use"',
        responses: '"status":"completed"',
      }
      expect(written).toContain(reason[client])
    }
  })

  it('hermes PR 83886, gemini-cli 12674: a malformed call is an error, even with a call that can be read', async () => {
    for (const finishReason of [
      'MALFORMED_FUNCTION_CALL',
      'UNEXPECTED_TOOL_CALL',
      'TOO_MANY_TOOL_CALLS',
      'MISSING_THOUGHT_SIGNATURE',
      'MALFORMED_RESPONSE',
    ]) {
      const written = toClient('chat', [chunk(calls), chunk([], { finishReason })])
      expect((await readChatWithSdk(written)).error).not.toBeNull()
      const body = { candidates: [{ content: { parts: calls }, finishReason }] }
      const whole = translateReply('chat', 'generate', JSON.stringify(body), writeContext())
      expect(typeof whole === 'object' && isFault(whole) && whole.code).toBe('provider_bad_response')
    }
  })

  it('any-llm PR 1202: every reason is known, and one that is not is an end', () => {
    const reason = (finishReason: string) => {
      const body = { candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason }] }
      return JSON.parse(String(translateReply('chat', 'generate', JSON.stringify(body), writeContext()))).choices[0]
        .finish_reason
    }
    expect(['STOP', 'OTHER', 'REASON_OF_TOMORROW'].map(reason)).toEqual(['stop', 'stop', 'stop'])
    expect(reason('MAX_TOKENS')).toBe('length')
    expect(
      ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'LANGUAGE', 'IMAGE_SAFETY'].map(reason),
    ).toEqual(Array(7).fill('content_filter'))
    expect(['MODEL_ARMOR', 'ESCALATION', 'PUP_LIMITED_DISABLED'].map(reason)).toEqual(Array(3).fill('content_filter'))
  })

  it('without candidates, without parts, with empty texts: nothing breaks', () => {
    const feedback: SentEvent = { name: '', data: { promptFeedback: { blockReason: 'SAFETY' } }, raw: '' }
    expect(toClient('chat', [feedback])).toContain('"finish_reason":"content_filter"')
    const bare: SentEvent = { name: '', data: { candidates: [{ finishReason: 'STOP', index: 0 }] }, raw: '' }
    expect(toClient('messages', [chunk([{ text: '' }]), chunk([{ text: 'a' }]), bare])).toContain('end_turn')
    const nothing = translateReply('chat', 'generate', '{"usageMetadata":{}}', writeContext())
    expect(typeof nothing === 'object' && isFault(nothing)).toBe(true)
  })

  it('of several candidates the one with the index 0 is the answer, wherever it stands', async () => {
    const said = (text: string, index: number) => ({
      ...{ index, content: { parts: [{ text }] }, finishReason: index === 0 ? 'STOP' : 'MAX_TOKENS' },
    })
    const both = { candidates: [said('other', 1), said('first', 0)] }
    expect(codecOf('generate').readReply(both)).toMatchObject({
      ...{ parts: [{ text: 'first' }], stop: { reason: 'done' }, dropped: ['candidates[1]'] },
    })
    const alone = { candidates: [said('other', 1)] }
    const written = toClient(
      'chat',
      [alone, both].map((data) => ({ name: '', data, raw: '' })),
    )
    expect(await readChatWithSdk(written)).toMatchObject({ text: 'first', stop: 'stop' })
  })

  it('what no other format has is named', () => {
    const body = {
      candidates: [
        {
          content: { parts: [{ executableCode: { code: '1' } }, { inlineData: { data: 'AA' } }, { text: 'a' }] },
          finishReason: 'STOP',
          citationMetadata: { citations: [{ uri: 'https://e.example' }] },
        },
      ],
    }
    const events = [{ name: '', data: body, raw: '' }]
    expect(toClient('chat', events)).toContain('"content":"a"')
    const named = ['executableCode', 'inlineData', 'citationMetadata']
    expect(codecOf('generate').readReply(body)).toMatchObject({ dropped: named })
    expect(new Set(droppedOf(events))).toEqual(new Set(named))
  })

  it('citations that come after a signature are kept, and those of a text that has ended are named', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
      groundingSupports: [{ segment: { startIndex: 0, endIndex: 5 }, groundingChunkIndices: [0] }],
    }
    const last = chunk([{ text: '' }], { finishReason: 'STOP', groundingMetadata })
    const signed = [chunk([{ text: 'Hello' }]), chunk([{ text: '', thoughtSignature: 'c2ln' }]), last]
    expect(toClient('chat', signed)).toContain('"url":"https://a.example"')
    expect(droppedOf(signed)).toEqual([])
    expect(droppedOf([chunk([{ text: 'Hello' }, ...calls]), last])).toEqual(['groundingMetadata'])
  })
})

describe('clients', () => {
  const bits = [
    chatChunk({ content: 'I ' }),
    chatChunk({ content: 'call.' }),
    callChunk(0, '{"n"', { id: 'a', name: 'f' }),
    callChunk(0, ':1.0}'),
    chatChunk({}, 'tool_calls'),
  ]

  it('get calls whole, and nothing but data', async () => {
    const written = translateEvents('generate', 'chat', bits, writeContext()).join('')
    expect(checkStream('generate', written)).toEqual([])
    expect(written).toContain('"args":{"n":1.0}')
    expect(await readGenerateWithSdk(written)).toMatchObject({
      text: 'I call.',
      calls: [['f', { n: 1 }]],
      stop: 'STOP',
    })
  })

  it('see thoughts only where they ask for them', () => {
    const thinking = messageEvents(
      block(0, { type: 'thinking', thinking: '', signature: '' }, { type: 'thinking_delta', thinking: 'Hm.' }),
      'end_turn',
    )
    const asking = (includeThoughts: boolean) => {
      const body = { contents: [{ parts: [{ text: 'x' }] }], generationConfig: { thinkingConfig: { includeThoughts } } }
      const { conversation } = translateRequest('generate', 'messages', JSON.stringify(body), {
        model: 'claude-opus-4-8',
      })
      return translateEvents('generate', 'messages', thinking, writeContext({ conversation })).join('')
    }
    expect(asking(true)).toContain('{"text":"Hm.","thought":true}')
    expect(asking(false)).not.toContain('Hm.')
  })

  it('carry all reasoning of another provider on the call that it led to, and bring it back in order', () => {
    const signed = (thinking: string, signature: string) => [
      { type: 'thinking_delta', thinking },
      { type: 'signature_delta', signature },
    ]
    const shell = { type: 'thinking', thinking: '', signature: '' }
    const thinking = [
      ...block(0, shell, ...signed('One.', 'c2lnMQ==')),
      ...block(1, { type: 'redacted_thinking', data: 'cmVk' }),
      ...block(2, shell, ...signed('Two.', 'c2lnMg==')),
      ...block(3, { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }),
    ]
    const written = translateEvents('generate', 'messages', messageEvents(thinking, 'tool_use'), writeContext()).join(
      '',
    )
    const [chunked] = readSse(written)
    const content = asObject(asObject(asArray(chunked?.data?.candidates)[0])?.content)
    expect(JSON.stringify(content)).toMatch(/"thoughtSignature":"[A-Za-z0-9+/=]+"/)
    const response = { functionResponse: { id: 'toolu_1', name: 'f', response: { output: 'r' } } }
    const contents = [{ role: 'user', parts: [{ text: 'x' }] }, content, { role: 'user', parts: [response] }]
    const { sent } = request('generate', 'messages', { contents }, { model: 'claude-opus-4-8' })
    expect(asObject(asArray(sent?.messages)[1])?.content).toEqual([
      { type: 'thinking', thinking: 'One.', signature: 'c2lnMQ==' },
      { type: 'redacted_thinking', data: 'cmVk' },
      { type: 'thinking', thinking: 'Two.', signature: 'c2lnMg==' },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    ])
  })

  it('a call that cannot be read ends in an error', async () => {
    const written = translateEvents(
      'generate',
      'chat',
      [callChunk(0, '{"n', { id: 'a', name: 'f' }), chatChunk({}, 'tool_calls')],
      writeContext(),
    ).join('')
    expect(checkStream('generate', written)).toEqual([])
    expect((await readGenerateWithSdk(written)).error).toMatch(/cannot be read/)
  })

  it('calls without ids are matched with their results by name and order', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'x' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'f', args: { n: 1 } } },
          { functionCall: { name: 'g' } },
          { functionCall: { name: 'f', args: { n: 2 } } },
        ],
      },
      {
        role: 'user',
        parts: ['one', 'two']
          .map((output) => ({ functionResponse: { name: 'f', response: { output } } }))
          .concat([{ functionResponse: { name: 'g', response: { output: 'g' } } }]),
      },
    ]
    const { sent } = request('generate', 'chat', { contents }, { model: 'gpt-4o' })
    const [, assistant, ...results] = asArray(sent?.messages).map(asObject)
    const ids = asArray(assistant?.tool_calls).map((one) => asObject(one)?.id)
    expect(new Set(ids).size).toBe(3)
    expect(results.map((one) => [one?.tool_call_id, one?.content])).toEqual([
      [ids[0], 'one'],
      [ids[1], 'g'],
      [ids[2], 'two'],
    ])
    // The same in the next turn.
    const again = request(
      'generate',
      'chat',
      { contents: [...contents, { role: 'model', parts: [{ text: 'y' }] }, contents[0]] },
      { model: 'gpt-4o' },
    )
    expect(asArray(again.sent?.messages).slice(0, 5)).toEqual(asArray(sent?.messages))
  })
})
