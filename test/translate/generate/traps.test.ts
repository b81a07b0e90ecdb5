import { describe, expect, it } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../../src/core/json-value.ts'
import { request } from '../../support/translate/asked.ts'
import { block, callChunk, chatChunk, messageEvents } from '../../support/translate/chunks.ts'
import { checkStream } from '../../support/translate/grammar.ts'
import { readGenerateWithSdk } from '../../support/translate/openai-google-sdk.ts'
import { readChatWithSdk } from '../../support/translate/sdk.ts'
import { readSse, type SentEvent } from '../../support/translate/sse.ts'
import {
  isFault,
  translateEvents,
  translateReply,
  translateRequest,
  writeContext,
} from '../../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

const user = { role: 'user', content: 'x' }
const newest = { model: 'gemini-3-pro' }
const call = (id: string, more: JsonObject = {}) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...more,
})
const signed = (value: string) => {
  const sealed = Buffer.from(JSON.stringify({ family: 'gemini', form: 'thought', value })).toString('base64url')
  return { extra_content: { google: { thought_signature: `sealed.${sealed}` } } }
}
const result = (id: string, content: unknown = 'r') => ({ role: 'tool', tool_call_id: id, content })
const ask = (...messages: JsonObject[]) => ({ model: 'm', messages: [user, ...messages] })

function chunk(parts: readonly JsonObject[], more: JsonObject = {}): SentEvent {
  const data = {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    modelVersion: 'm',
    responseId: 'r',
  }
  return { name: '', data, raw: '' }
}

function partsOf(sent: JsonObject | null, index: number): JsonObject[] {
  return asArray(asObject(asArray(sent?.contents)[index])?.parts).flatMap((part): JsonObject[] => [
    asObject(part) ?? {},
  ])
}

function toClient(client: 'chat' | 'messages' | 'responses', events: readonly SentEvent[]): string {
  const written = translateEvents(client, 'generate', events, writeContext()).join('')
  expect(checkStream(client, written)).toEqual([])
  return written
}

describe('signatures', () => {
  it('pipecat PR 5809, CLIProxyAPI 2098: calls of the current turn that are not signed say so, once for each step', () => {
    const step = (id: string) => [
      { role: 'assistant', content: null, tool_calls: [call(id), call(`${id}b`)] },
      result(id),
      result(`${id}b`),
    ]
    const { sent, losses } = request(
      'chat',
      'generate',
      ask(...step('a'), { role: 'assistant', content: 'y' }, user, ...step('b'), ...step('c')),
      newest,
    )
    const signatures = asArray(sent?.contents).flatMap((_, index) =>
      partsOf(sent, index).filter((part) => 'functionCall' in part),
    )
    expect(signatures.map(({ thoughtSignature }) => thoughtSignature ?? null)).toEqual([
      null,
      null,
      'skip_thought_signature_validator',
      null,
      'skip_thought_signature_validator',
      null,
    ])
    expect(losses).toEqual([
      'messages[6].tool_calls[0].thought_signature',
      'messages[9].tool_calls[0].thought_signature',
    ])
  })

  it('agnt 35: each call of several keeps the signature that it came with', () => {
    const { sent, losses } = request(
      'chat',
      'generate',
      ask(
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('a', signed('c2lnMQ==')), call('b', signed('c2lnMg==')), call('c')],
        },
        result('a'),
        result('b'),
        result('c'),
      ),
      newest,
    )
    expect(partsOf(sent, 1).map(({ thoughtSignature }) => thoughtSignature ?? null)).toEqual([
      'c2lnMQ==',
      'c2lnMg==',
      null,
    ])
    expect(losses).toEqual([])
  })

  it('hermes PR 65294: a signature stands beside the call, in camel case, and only there', () => {
    const { body } = request(
      'chat',
      'generate',
      ask({ role: 'assistant', content: null, tool_calls: [call('a', signed('c2ln'))] }, result('a')),
      newest,
    )
    expect(body).toContain('"args":{}},"thoughtSignature":"c2ln"}')
    expect(body?.match(/ignature/g)).toHaveLength(1)
  })

  it('older models get none', () => {
    const { body, losses } = request(
      'chat',
      'generate',
      ask({ role: 'assistant', content: null, tool_calls: [call('a')] }, result('a')),
      { model: 'gemini-2.5-pro' },
    )
    expect(body).not.toContain('ignature')
    expect(losses).toEqual([])
  })

  it('of calls go to a client that carries them, and come back on the same call', () => {
    const answer = [
      chunk([{ functionCall: { name: 'f', args: {} }, thoughtSignature: 'c2ln' }], { finishReason: 'STOP' }),
    ]
    const include = { include: ['reasoning.encrypted_content'] }
    const { conversation } = translateRequest(
      'responses',
      'generate',
      JSON.stringify({ model: 'm', input: 'x', ...include }),
    )
    const written = translateEvents('responses', 'generate', answer, writeContext({ conversation })).join('')
    const response = asObject(readSse(written).at(-1)?.data?.response)
    const output = asArray(response?.output).map(asObject)
    const input = [user, ...output, { type: 'function_call_output', call_id: output[0]?.call_id, output: 'r' }]
    const { sent, losses } = request('responses', 'generate', { model: 'm', input, ...include }, newest)
    expect(partsOf(sent, 1)).toMatchObject([{ functionCall: { name: 'f' }, thoughtSignature: 'c2ln' }])
    expect(losses).toEqual([])
  })

  it("litellm 40654: another model's thoughts are neither text nor thoughts of Gemini", () => {
    const { body, losses } = request(
      'chat',
      'generate',
      ask({ role: 'assistant', content: 'y', reasoning_content: 'secret' }, user),
      newest,
    )
    expect(body).not.toContain('secret')
    expect(losses).toEqual(['messages[1].reasoning_content'])
  })
})

describe('requests', () => {
  it('litellm 38223: what looks like a schema in a result is data', () => {
    const data = '{"$ref":"#/$defs/A","type":"OBJECT"}'
    const { sent } = request(
      'chat',
      'generate',
      ask({ role: 'assistant', content: null, tool_calls: [call('a')] }, result('a', data)),
      newest,
    )
    expect(partsOf(sent, 2)).toMatchObject([{ functionResponse: { name: 'f', response: { output: data } } }])
  })

  it('Zoo-Code PR 1705: nothing comes between results: their images are in them, or after all of them', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
    const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
    const shown = (id: string) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: [{ type: 'text', text: id }, image],
    })
    const messages = [
      user,
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [shown('b'), shown('a')] },
    ]
    const body = { model: 'm', max_tokens: 5, messages }
    const kinds = (model: string) =>
      partsOf(request('messages', 'generate', body, { model }).sent, 2).map((part) => Object.keys(part)[0])
    expect(kinds('gemini-3-pro')).toEqual(['functionResponse', 'functionResponse'])
    expect(kinds('gemini-2.5-pro')).toEqual(['functionResponse', 'functionResponse', 'inlineData', 'inlineData'])
    const { sent } = request('messages', 'generate', body, newest)
    expect(partsOf(sent, 2).map((part) => asObject(part.functionResponse)?.id)).toEqual(['a', 'b'])
    expect(asObject(partsOf(sent, 2)[0]?.functionResponse)?.parts).toHaveLength(1)
  })

  it('litellm 41913: choices of tools are kept, and calls one at a time are listed', () => {
    const tools = ['f', 'g'].map((name) => ({ type: 'function', function: { name } }))
    const config = (tool_choice: unknown) =>
      asObject(request('chat', 'generate', { ...ask(), tools, tool_choice }, newest).sent?.toolConfig)
        ?.functionCallingConfig
    expect(config('auto')).toEqual({ mode: 'AUTO' })
    expect(config('none')).toEqual({ mode: 'NONE' })
    expect(config('required')).toEqual({ mode: 'ANY' })
    expect(config({ type: 'function', function: { name: 'g' } })).toEqual({ mode: 'ANY', allowedFunctionNames: ['g'] })
    const some = (mode: string) => ({ type: 'allowed_tools', allowed_tools: { mode, tools: [tools[0]] } })
    expect(config(some('auto'))).toEqual({ mode: 'VALIDATED', allowedFunctionNames: ['f'] })
    expect(config(some('required'))).toEqual({ mode: 'ANY', allowedFunctionNames: ['f'] })
    expect(request('chat', 'generate', { ...ask(), tools, parallel_tool_calls: false }, newest).losses).toEqual([
      'parallel_tool_calls',
    ])
  })

  it('a name that Gemini refuses comes back as the client knows it', () => {
    const name = '1st.tool/with slash'
    const body = { ...ask(), tools: [{ type: 'function', function: { name } }] }
    const { sent, conversation } = request('chat', 'generate', body, newest)
    const declared = asObject(asArray(asObject(asArray(sent?.tools)[0])?.functionDeclarations)[0])?.name
    expect(declared).toMatch(/^[A-Za-z_][\w.:-]{0,127}$/)
    const answer = [chunk([{ functionCall: { name: declared, args: {} } }], { finishReason: 'STOP' })]
    const written = translateEvents('chat', 'generate', answer, writeContext({ conversation })).join('')
    expect(written).toContain(JSON.stringify({ name, arguments: '' }))
  })

  it('helicone 5639: a schema of the answer is kept, and JSON without one', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    const config = (response_format: JsonObject) =>
      request('chat', 'generate', { ...ask(), response_format }, newest).sent?.generationConfig
    expect(config({ type: 'json_object' })).toEqual({ responseMimeType: 'application/json' })
    expect(config({ type: 'json_schema', json_schema: { name: 'n', schema } })).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
  })
})

describe('answers', () => {
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
  })

  it('without candidates, without parts, with empty texts: nothing breaks', () => {
    const feedback: SentEvent = { name: '', data: { promptFeedback: { blockReason: 'SAFETY' } }, raw: '' }
    expect(toClient('chat', [feedback])).toContain('"finish_reason":"content_filter"')
    const bare: SentEvent = { name: '', data: { candidates: [{ finishReason: 'STOP', index: 0 }] }, raw: '' }
    expect(toClient('messages', [chunk([{ text: '' }]), chunk([{ text: 'a' }]), bare])).toContain('end_turn')
    const nothing = translateReply('chat', 'generate', '{"usageMetadata":{}}', writeContext())
    expect(typeof nothing === 'object' && isFault(nothing)).toBe(true)
  })

  it('what no other format has is named', () => {
    const body = {
      candidates: [
        {
          content: { parts: [{ executableCode: { code: '1' } }, { inlineData: { data: 'AA' } }, { text: 'a' }] },
          finishReason: 'STOP',
          citationMetadata: {},
          logprobsResult: {},
        },
      ],
    }
    const events = [{ name: '', data: body, raw: '' }]
    expect(toClient('chat', events)).toContain('"content":"a"')
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

  it('get an array where they asked for one, closed after an error too', () => {
    const array = (cut: boolean) =>
      translateEvents('generate', 'chat', bits, writeContext({ jsonArray: true }), cut).join('')
    const whole = JSON.parse(array(false))
    expect(whole.at(-1).candidates[0].finishReason).toBe('STOP')
    expect(
      whole
        .flatMap((one: { candidates: { content: { parts: { text?: string }[] } }[] }) =>
          one.candidates[0]?.content.parts.map(({ text }) => text ?? ''),
        )
        .join(''),
    ).toBe('I call.')
    expect(JSON.parse(array(true)).at(-1).error).toMatchObject({ code: 500, status: 'INTERNAL' })
    const empty = translateEvents('generate', 'chat', [], writeContext({ jsonArray: true }), true).join('')
    expect(JSON.parse(empty)).toMatchObject([{ error: { code: 500 } }])
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
