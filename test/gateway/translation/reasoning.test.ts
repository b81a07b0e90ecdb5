import { describe, expect, it } from 'vitest'
import { attachReasoning, bareCalls } from '../../../src/gateway/translation/recall.ts'
import { ReplyNames } from '../../../src/gateway/translation/reply-names.ts'
import { TurnRecorder } from '../../../src/gateway/translation/turn-recorder.ts'
import type { TurnReasoning } from '../../../src/gateway/translation/vault.ts'
import type { CallPart, Conversation, ConversationTurn, Opaque, Part } from '../../../src/translate/conversation.ts'
import { blankSettings } from '../../../src/translate/conversation.ts'
import type { ReplyEvent } from '../../../src/translate/reply.ts'

const signed: Opaque = { family: 'anthropic', form: 'signature', value: 'sig' }
const thought: Opaque = { family: 'gemini', form: 'thought', value: 'own' }

function recorderInto(kept: Map<string, TurnReasoning>): TurnRecorder {
  return new TurnRecorder({
    call: (id, turn) => kept.set(id, turn),
    text: (words, turn) => kept.set(`text: ${words}`, turn),
  })
}

function recorded(...batches: ReplyEvent[][]) {
  const kept = new Map<string, TurnReasoning>()
  const recorder = recorderInto(kept)
  for (const batch of batches) recorder.events(batch)
  return kept
}

function idsOf(requestId: string, events: ReplyEvent[], taken: readonly string[] = []): (string | null)[] {
  const ids = new ReplyNames({ id: requestId, model: 'm' }, (id) => taken.includes(id))
  return ids.events(events).flatMap((event) => (event.kind === 'call' ? [event.id] : []))
}

const call = (part: number, id: string | null): ReplyEvent => ({ kind: 'call', part, id, name: 'look', custom: false })

describe('what a model thinks before its calls', () => {
  it('is kept with the call that follows it, put together from its pieces', () => {
    const kept = recorded(
      [{ kind: 'reasoning', part: 0, text: 'I ' }],
      [{ kind: 'reasoning', part: 0, text: 'think.' }],
      [{ kind: 'opaque', part: 0, opaque: signed }],
      [call(1, 'a')],
      [call(2, 'b')],
    )
    expect(kept.get('a')).toEqual({ before: [{ text: 'I think.', opaque: signed, first: true }], own: null })
    expect(kept.get('b')).toEqual({ before: [], own: null })
  })

  it('is not kept where its provider did not sign it', () => {
    expect(recorded([{ kind: 'reasoning', part: 0, text: 'x' }], [call(1, 'a')]).get('a')?.before).toEqual([])
  })

  it('can come after text, and can be the signature of the call itself', () => {
    const kept = recorded(
      [{ kind: 'text', part: 0, text: 'Well.' }],
      [{ kind: 'opaque', part: 1, opaque: { ...signed, form: 'redacted' } }],
      [call(2, 'a'), { kind: 'opaque', part: 2, opaque: thought }],
    )
    expect(kept.get('a')).toEqual({
      before: [{ text: '', opaque: { ...signed, form: 'redacted' }, first: false }],
      own: thought,
    })
  })

  it('is kept once more where the signature comes at the end of the answer', () => {
    const own: Opaque = { family: 'openrouter', form: 'details', value: '[]' }
    const kept = recorded([call(0, 'a')], [call(1, 'b')], [{ kind: 'opaque', part: 1, opaque: own }])
    expect([...kept.values()]).toEqual([
      { before: [], own: null },
      { before: [], own },
    ])
  })

  it('is the same of a whole answer', () => {
    const kept = new Map<string, TurnReasoning>()
    recorderInto(kept).whole({
      id: 'm',
      model: 'm',
      created: null,
      dropped: [],
      stop: { reason: 'calls', sequence: null, explanation: null },
      parts: [
        { kind: 'reasoning', path: '', text: 'hm', opaque: signed },
        { kind: 'call', path: '', id: 'a', name: 'look', arguments: '{}', custom: false },
      ],
    })
    expect(kept.get('a')?.before).toEqual([{ text: 'hm', opaque: signed, first: true }])
  })
})

describe('what a model thinks before a text alone', () => {
  const thinks = { kind: 'reasoning', part: 0, text: 'hm' } satisfies ReplyEvent
  const says = { kind: 'text', part: 1, text: 'Well' } satisfies ReplyEvent
  const signs = { kind: 'opaque', part: 0, opaque: signed } satisfies ReplyEvent
  const stop: ReplyEvent = { kind: 'stop', stop: { reason: 'done', sequence: null, explanation: null } }
  const before = [{ text: 'hm', opaque: signed, first: true }]

  it('is kept with all that it says, at its end', () => {
    const said = [[thinks, signs], [says], [{ ...says, text: '.' }]]
    expect([...recorded(...said)]).toEqual([])
    expect([...recorded(...said, [stop])]).toEqual([['text: Well.', { before, own: null }]])
  })

  it('can be the signature of the text itself, where there is one text', () => {
    const own: ReplyEvent = { kind: 'opaque', part: 1, opaque: thought }
    expect(recorded([says, own, stop]).get('text: Well')).toEqual({ before: [], own: thought })
    expect([...recorded([says, own, { ...says, part: 2 }, stop])]).toEqual([])
  })

  it.each<[string, ReplyEvent[]]>([
    ['nobody signed it', [thinks, says, stop]],
    ['nothing is said', [thinks, signs, stop]],
    ['a call is made, which it is kept with', [says, thinks, signs, call(2, 'a'), stop]],
    ['it came between texts', [says, { ...thinks, part: 2 }, { ...signs, part: 2 }, { ...says, part: 3 }, stop]],
  ])('is not kept where %s', (_, events) => {
    expect([...recorded(events)].filter(([name]) => name.startsWith('text'))).toEqual([])
  })

  it('is the same of a whole answer', () => {
    const kept = new Map<string, TurnReasoning>()
    recorderInto(kept).whole({
      ...{ id: 'm', model: 'm', created: null, dropped: [] },
      stop: { reason: 'done', sequence: null, explanation: null },
      parts: [
        { kind: 'reasoning', path: '', text: 'hm', opaque: signed },
        { kind: 'text', path: '', text: 'Well', opaque: thought },
      ],
    })
    expect(kept.get('text: Well')).toEqual({ before, own: thought })
  })
})

const called = (id: string, more: Partial<CallPart> = {}): Part => ({
  kind: 'call',
  path: 'messages[1].tool_calls[0]',
  id,
  name: 'look',
  arguments: '{}',
  custom: false,
  ...more,
})
const text: Part = { kind: 'text', path: 'messages[1].content', text: 'Well.' }

function said(...parts: Part[]): Conversation {
  const turns: ConversationTurn[] = [{ role: 'assistant', path: 'messages[1]', parts }]
  return { turns, tools: [], toolChoice: null, parallelCalls: null, settings: blankSettings, seen: [] }
}

describe('what was kept', () => {
  const found = new Map([
    ['a', { before: [{ text: 'hm', opaque: signed, first: true }], own: null }],
    ['b', { before: [{ text: '', opaque: signed, first: false }], own: thought }],
  ])

  it('goes back to where it was: before the text, or before its call', () => {
    const [turn] = attachReasoning(said(text, called('a'), called('b')), found).turns
    expect(turn?.parts.map(({ kind }) => kind)).toEqual(['reasoning', 'text', 'call', 'reasoning', 'call'])
    expect(turn?.parts[0]).toMatchObject({ text: 'hm', opaque: signed, path: 'messages[1].tool_calls[0]' })
    expect(turn?.parts[4]).toMatchObject({ id: 'b', opaque: thought })
  })

  it('takes the place of what the client shows of it unsigned', () => {
    const shown: Part = { kind: 'reasoning', path: '', text: 'hm' }
    const [turn] = attachReasoning(said(shown, called('a')), found).turns
    expect(turn?.parts.map(({ kind }) => kind)).toEqual(['reasoning', 'call'])
    expect(turn?.parts[0]).toHaveProperty('opaque', signed)
  })

  it('is asked for only where the client brought nothing', () => {
    expect(bareCalls(said(text, called('a')))).toEqual(['a'])
    expect(bareCalls(said(text))).toEqual([])
    const of = (count: number) => bareCalls(said(...Array.from({ length: count }, (_, at) => called(`c${at}`))))
    const firsts = [200, 201, 300, 301].map((count) => [of(count)[0], of(count).at(-1)])
    expect(firsts).toEqual([
      ['c0', 'c199'],
      ['c100', 'c200'],
      ['c100', 'c299'],
      ['c200', 'c300'],
    ])
    const carried = said(called('a', { opaque: thought }))
    expect(bareCalls(carried)).toEqual([])
    expect(attachReasoning(carried, found).turns).toEqual(carried.turns)
  })
})

describe('calls without an id', () => {
  it('get one that is the same for the same answer, and differs within it', () => {
    const start: ReplyEvent = { kind: 'start', id: 'r1', model: 'm' }
    const ids = idsOf('req_1', [start, call(0, null), call(1, null), call(2, 'own')])
    expect(ids).toEqual(idsOf('req_2', [start, call(0, null), call(1, null), call(2, 'own')]))
    expect(new Set(ids).size).toBe(3)
    expect(ids[2]).toBe('own')
    expect(idsOf('req_1', [call(0, null)])).not.toEqual(idsOf('req_2', [call(0, null)]))
  })

  it('get another one where a call of the conversation has it: Switchyard 502, agents know calls by their ids', () => {
    const start: ReplyEvent = { kind: 'start', id: 'r1', model: 'm' }
    const [first, second] = idsOf('req_1', [start, call(0, 'call_0'), call(1, 'call_1')], ['call_0'])
    expect(first).toMatch(/^call_[0-9a-f]{24}$/)
    expect(second).toBe('call_1')
    // A server that gives its answers one id, too.
    const [again] = idsOf('req_2', [start, call(0, 'call_0')], ['call_0', first ?? ''])
    expect(again).not.toBe(first)
    const reply = {
      id: 'r1',
      model: 'm',
      created: null,
      dropped: [],
      stop: { reason: 'calls', sequence: null, explanation: null },
    } as const
    const part: CallPart = { kind: 'call', path: '', id: 'call_0', name: 'look', arguments: '{}', custom: false }
    const whole = new ReplyNames({ id: 'req_1', model: 'm' }, (id) => id === 'call_0').whole({
      ...reply,
      parts: [part],
    })
    expect(whole.parts).toEqual([{ ...part, id: first }])
  })
})

it("what OpenRouter's models signed names calls by the ids that the client gets", () => {
  const sign = (id: string): Opaque => {
    const detail = { type: 'reasoning.encrypted', data: 'x', id, format: 'google-gemini-v1' }
    return { family: 'openrouter', form: 'details', value: JSON.stringify([detail]) }
  }
  const names = () => new ReplyNames({ id: 'req_1', model: 'm' }, (id) => id === 'tool_0_look')
  const streamed = names()
  const call = { kind: 'call', part: 0, id: 'tool_0_look', name: 'look', custom: false } as const
  const [begun] = streamed.events([call])
  const id = begun?.kind === 'call' ? (begun.id ?? '') : ''
  expect(id).not.toBe('tool_0_look')
  const opaque = sign('tool_0_look')
  expect(streamed.events([{ kind: 'opaque', part: 0, opaque }])).toEqual([
    { kind: 'opaque', part: 0, opaque: sign(id) },
  ])
  const part: CallPart = { ...{ kind: 'call', path: '', arguments: '{}', custom: false, opaque }, ...call }
  const stop = { reason: 'calls', sequence: null, explanation: null } as const
  const whole = names().whole({ id: '', model: 'm', created: null, dropped: [], stop, parts: [part] })
  expect(whole.parts).toMatchObject([{ id, opaque: sign(id) }])
})

describe('an answer that names no model', () => {
  const stop = { reason: 'done', sequence: null, explanation: null } as const
  const modelsOf = (model: string) => {
    const names = new ReplyNames({ id: 'req_1', model: 'asked' }, () => false)
    const [start] = names.events([{ kind: 'start', id: 'r1', model }])
    const whole = names.whole({ id: 'r1', model, parts: [], created: null, dropped: [], stop })
    return [start?.kind === 'start' ? start.model : null, whole.model]
  }

  it('is of the one that was asked, streamed and whole', () => {
    expect(modelsOf('')).toEqual(['asked', 'asked'])
    expect(modelsOf('m')).toEqual(['m', 'm'])
  })
})
