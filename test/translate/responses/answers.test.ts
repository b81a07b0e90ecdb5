import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json/json-value.ts'
import { responsesCodec } from '../../../src/translate/responses/codec.ts'
import { checkStream } from '../../support/translate/grammar.ts'
import type { SentEvent } from '../../support/translate/sse.ts'
import { isFault, translateEvents, translateReply, writeContext } from '../../support/translate/stage.ts'

// Tests are named after the reports of other gateways that had the error.

describe('answers of servers with the Responses API', () => {
  const sent = (name: string, members: JsonObject): SentEvent => ({ name, data: { type: name, ...members }, raw: '' })
  const response = { id: 'resp_abcdefgh1234', model: 'm', status: 'in_progress', output: [] }
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"n":1}' }

  it('pi PR 4171: items may end out of order', () => {
    const events = [
      sent('response.created', { response }),
      sent('response.output_item.added', { output_index: 0, item: { type: 'reasoning', id: 'rs_1', summary: [] } }),
      sent('response.reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'Hm.' }),
      sent('response.output_item.added', { output_index: 1, item: { ...call, arguments: '' } }),
      sent('response.output_item.done', { output_index: 1, item: call }),
      sent('response.output_item.done', {
        output_index: 0,
        item: { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA' },
      }),
      sent('response.completed', { response: { ...response, status: 'completed' } }),
    ]
    const written = translateEvents('messages', 'responses', events, writeContext()).join('')
    expect(checkStream('messages', written)).toEqual([])
    expect(written).toContain('"thinking":"Hm."')
    expect(written).toContain('"partial_json":"{\\"n\\":1}"')
  })

  it('may say everything at the end, or by whole items', () => {
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Hello' }],
    }
    const end = (output: JsonObject[]) =>
      sent('response.completed', { response: { ...response, status: 'completed', output } })
    const items = [message, call].map((item, output_index) => sent('response.output_item.done', { output_index, item }))
    for (const events of [
      [end([message, call])],
      [...items, end([])],
      [sent('response.created', { response }), ...items, end([message, call])],
    ]) {
      const written = translateEvents('chat', 'responses', events, writeContext()).join('')
      expect(checkStream('chat', written)).toEqual([])
      expect(written.match(/"content":"Hello"/g)).toHaveLength(1)
      expect(written).toContain('"finish_reason":"tool_calls"')
    }
  })

  it('may cite files of their own, which is named', () => {
    const annotations = [{ type: 'file_citation', file_id: 'f', filename: 'a', index: 0 }]
    const content = [{ type: 'output_text', text: 'Hello', annotations }]
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content }]
    const whole = responsesCodec.readReply({ ...response, status: 'completed', output })
    expect('dropped' in whole && whole.dropped).toEqual(['annotations.file_citation'])
    const reader = responsesCodec.openReader()
    const done = sent('response.output_item.done', { output_index: 0, item: output[0] })
    expect(reader.event(done.name, done.data ?? {})).toContainEqual({
      kind: 'dropped',
      name: 'annotations.file_citation',
    })
  })

  it('may have failed with 200', () => {
    const body = { ...response, status: 'failed', error: { code: 'server_error', message: 'Out of luck.' } }
    const written = translateReply('chat', 'responses', JSON.stringify(body), writeContext())
    expect(typeof written === 'object' && isFault(written) && written.message).toContain('Out of luck.')
  })
})

describe('answers that are kept', () => {
  it('have ids of their own where a server gives several answers one', () => {
    const answer = {
      id: 'chatcmpl-00000001',
      model: 'm',
      choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
    }
    const idIn = (requestId: string, isKept: boolean) => {
      const kept = isKept ? { kept: { previous: null, take: () => true } } : {}
      const written = translateReply('responses', 'chat', JSON.stringify(answer), writeContext({ requestId, ...kept }))
      return typeof written === 'string' ? JSON.parse(written).id : written
    }
    expect(idIn('req_1', false)).toBe('resp_00000001')
    expect(idIn('req_1', true)).toMatch(/^resp_[a-z2-7]{24}$/)
    expect(idIn('req_1', true)).not.toBe(idIn('req_2', true))
  })
})
