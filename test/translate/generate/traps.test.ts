import { describe, expect, it } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { request } from '../../support/translate/asked.ts'
import { ask, call, chunk, newest, partsOf, result, signed, user } from '../../support/translate/generate-parts.ts'
import { readSse } from '../../support/translate/sse.ts'
import { translateEvents, translateRequest, writeContext } from '../../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

describe('signatures', () => {
  it('pipecat PR 5809, CLIProxyAPI 2098: calls that are not signed say so, once for each step, in every later turn', () => {
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
      'skip_thought_signature_validator',
      null,
      'skip_thought_signature_validator',
      null,
      'skip_thought_signature_validator',
      null,
    ])
    // Google checks the current turn only.
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
