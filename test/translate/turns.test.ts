import { describe, expect, it } from 'vitest'
import type { ConversationTurn, Part } from '../../src/translate/conversation.ts'
import { Ledger } from '../../src/translate/ledger.ts'
import { orderTurns } from '../../src/translate/turns.ts'
import { blankConversation } from '../support/translate/stage.ts'

const text = (value: string): Part => ({ kind: 'text', path: value, text: value })
const call = (id: string | null, name = 'f'): Part => ({
  kind: 'call',
  path: `call ${id}`,
  id,
  name,
  arguments: '{}',
  custom: false,
})
const result = (callId: string | null, name: string | null = null): Part => {
  return { kind: 'result', path: `result ${callId ?? name}`, callId, name, parts: [], failed: false }
}

function order(turns: readonly [ConversationTurn['role'], ...Part[]][], systemInPlace = false) {
  const ledger = new Ledger('chat', 'messages', false)
  const named = turns.map(([role, ...parts], index) => ({ role, parts, path: `messages[${index}]` }))
  const ordered = orderTurns({ ...blankConversation, turns: named }, { systemInPlace }, ledger)
  const show = (part: Part) =>
    part.kind === 'text'
      ? part.text
      : part.kind === 'call'
        ? `call ${part.id}`
        : part.kind === 'result'
          ? `result ${part.callId}`
          : part.kind
  return {
    system: ordered.system.map((part) => part.text),
    turns: ordered.turns.map(({ role, parts }) => [role, ...parts.map(show)]),
    losses: ledger.losses,
    refused: ledger.refused?.message ?? null,
  }
}

describe('turns in order', () => {
  it('are joined where one role has two in a row, without empty texts', () => {
    const { turns, system } = order([
      ['system', text('s'), text(' ')],
      ['user', text('a')],
      ['user', text(''), text('b')],
      ['assistant', text('c')],
      ['assistant', text('\n'), call('1')],
      ['tool', result('1')],
      ['user', text('d')],
    ])
    expect(system).toEqual(['s'])
    expect(turns).toEqual([
      ['user', 'a', 'b'],
      ['assistant', 'c', 'call 1'],
      ['user', 'result 1', 'd'],
    ])
  })

  it('have each system message in its place, or with the user', () => {
    const talk: [ConversationTurn['role'], ...Part[]][] = [
      ['user', text('a')],
      ['assistant', call('1')],
      ['system', text('now')],
      ['tool', result('1')],
      ['user', text('b')],
    ]
    expect(order(talk, true).turns.slice(2)).toEqual([
      ['user', 'result 1'],
      ['system', 'now'],
      ['user', 'b'],
    ])
    const folded = order(talk)
    expect(folded.turns.slice(2)).toEqual([['user', 'result 1', '<system-message>\nnow\n</system-message>', 'b']])
    expect(folded.losses).toEqual(['messages[2]'])
  })

  it('match results without an id by the name of the call, in order', () => {
    const { turns } = order([
      ['user', text('a')],
      ['assistant', call(null, 'f'), call(null, 'g'), call(null, 'f')],
      ['user', result(null, 'f'), result(null, 'f'), result(null, 'g')],
    ])
    const calls = turns[1]?.slice(1).map((name) => name.slice('call '.length))
    expect(new Set(calls).size).toBe(3)
    expect(turns[2]?.slice(1)).toEqual(calls?.map((id) => `result ${id}`))
  })

  it('are put in order in one go, however many they are', () => {
    const many = 100_000
    const users: [ConversationTurn['role'], ...Part[]][] = Array.from({ length: many }, () => ['user', text('a')])
    const ids = Array.from({ length: many }, (_, index) => String(index))
    const { turns, refused } = order([
      ...users,
      ...ids.map((id): [ConversationTurn['role'], ...Part[]] => ['assistant', call(id)]),
      ['tool', ...ids.map((id) => result(id)).reverse()],
    ])
    expect(refused).toBeNull()
    expect(turns.map((turn) => turn.length)).toEqual([many + 1, many + 1, many + 1])
    expect(turns[2]?.[1]).toBe('result 0')
  })

  it.each([
    ['a call of the user', [['user', call('1')]], /not in an assistant's message/],
    ['a result of the assistant', [['assistant', result('1')]], /in an assistant's message/],
    [
      'a missing result',
      [
        ['assistant', call('1'), call('2')],
        ['tool', result('1')],
      ],
      /call 2 of f .* has no result/,
    ],
    [
      'a result of no call',
      [
        ['assistant', call('1')],
        ['tool', result('1'), result('9')],
      ],
      /belongs to no call \(9\)/,
    ],
    [
      'two results of a call',
      [
        ['assistant', call('1')],
        ['tool', result('1'), result('1')],
      ],
      /call 1 has two results/,
    ],
    [
      'a result that comes too late',
      [
        ['assistant', call('1')],
        ['assistant', text('x')],
        ['user', text('y')],
        ['assistant', text('z')],
        ['tool', result('1')],
      ],
      /has no result/,
    ],
  ] as [string, [ConversationTurn['role'], ...Part[]][], RegExp][])('refuse %s', (_, turns, words) => {
    expect(order([['user', text('a')], ...turns]).refused).toMatch(words)
  })
})
