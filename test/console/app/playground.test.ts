import { describe, expect, it } from 'vitest'
import { applyEvent, emptyResponse, refusalOf } from '../../../src/console/app/areas/playground/playground-response.ts'
import {
  blockedReason,
  bodyOf,
  continueDraft,
  firstDraft,
  firstLane,
  pathOf,
} from '../../../src/console/app/areas/playground/playground-state.ts'

const draft = { ...firstDraft, model: 'm' }

describe('what the playground would send', () => {
  it('follows the controls, until the body is changed by hand', () => {
    expect(JSON.parse(bodyOf({ ...draft, system: 'Be short.', maxTokens: '5' }))).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'Say hello in one short sentence.' },
      ],
      stream: true,
      max_completion_tokens: 5,
    })
    expect(bodyOf({ ...draft, body: '{"own":1}' })).toBe('{"own":1}')
    expect(pathOf({ ...draft, lane: 'gemini', streamed: false })).toBe('/v1/gemini/v1beta/models/m:generateContent')
  })

  it('says what is in the way', () => {
    expect(blockedReason(draft)).toBeNull()
    expect(blockedReason(firstDraft)).toBe('Choose a model.')
    expect(blockedReason({ ...draft, temperature: 'warm' })).toBe('Temperature must be a number.')
    expect(blockedReason({ ...draft, turns: [{ id: 1, role: 'user', text: ' ' }] })).toBe('Enter a message.')
    expect(blockedReason({ ...draft, body: '{' })).toBe('The body is not valid JSON.')
  })

  it('goes on with the answer', () => {
    const next = continueDraft({ ...draft, body: '{}' }, 'Hello.')
    expect(next.turns.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Say hello in one short sentence.'],
      ['assistant', 'Hello.'],
      ['user', ''],
    ])
    expect(next.body).toBeNull()
    expect(new Set(next.turns.map(({ id }) => id)).size).toBe(3)
  })

  it('begins on a lane that something serves', () => {
    expect(firstLane({ openai: [], anthropic: ['claude'], gemini: [] })).toBe('anthropic')
    expect(firstLane({ openai: [], anthropic: [], gemini: [] })).toBe('openai')
  })
})

describe('an answer as it comes', () => {
  const begin = {
    kind: 'begin' as const,
    request_id: 'req_1',
    lane: 'openai' as const,
    status: 200,
    path: '/v1/chat/completions',
    request_body: '{}',
    headers: {},
    text: null,
  }

  it('gathers text and bytes, and the time of the first text', () => {
    const parts = [
      { kind: 'part' as const, at_ms: 5, text: '', raw: 'data: {}\n\n' },
      { kind: 'part' as const, at_ms: 9, text: 'Hel', raw: 'a' },
      { kind: 'part' as const, at_ms: 12, text: 'lo', raw: 'b' },
    ]
    const coming = [begin, ...parts].reduce(applyEvent, emptyResponse)
    expect(coming).toMatchObject({ state: 'coming', text: 'Hello', raw: 'data: {}\n\nab', firstTextMs: 9 })
    const end = { kind: 'end' as const, duration_ms: 20, first_text_ms: 9, error: null, text: null }
    expect(applyEvent(coming, end)).toMatchObject({ state: 'ended', durationMs: 20, error: null })
    expect(applyEvent(coming, { ...end, error: 'reset' })).toMatchObject({ state: 'failed', error: 'reset' })
  })
})

it('what is wrong is said in words, in the form of every lane, and only of a refusal', () => {
  const at = (status: number, raw: string) => {
    const sent = { request_id: 'req_1', lane: 'openai' as const, path: '/v1/x', request_body: '{}', text: null }
    return refusalOf({ begin: { kind: 'begin', status, headers: {}, ...sent }, raw })
  }
  const body = { error: { message: 'There is no model "x".' } }
  expect(at(404, JSON.stringify(body))).toBe('There is no model "x".')
  expect(at(404, JSON.stringify([body]))).toBe('There is no model "x".')
  expect(at(200, JSON.stringify(body))).toBe(null)
  expect([at(502, '<html>'), at(502, '{"error":"no"}'), at(502, 'null'), at(502, '')]).toEqual([null, null, null, null])
  expect(refusalOf(emptyResponse)).toBe(null)
})
