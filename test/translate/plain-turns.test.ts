import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type FormatName, formatNames } from '../../src/core/format.ts'
import { asArray, type JsonObject } from '../../src/core/json/json-value.ts'
import { estimateRequest } from '../../src/translate/estimate-tokens.ts'
import { readDocument } from '../../src/translate/json.ts'
import { PlainTurns } from '../../src/translate/plain-turns.ts'
import { codecOf, isFault, plainCarriers, translateRequest } from '../support/translate/stage.ts'

interface Said {
  isAnswer: boolean
  text: string
  /** As a list of one part, where the format has both. */
  listed: boolean
  /** With a member besides, so that it is no plain one. */
  odd: boolean
}

const lists: Readonly<Record<FormatName, string>> = {
  chat: 'messages',
  messages: 'messages',
  responses: 'input',
  generate: 'contents',
}
const models: Readonly<Record<FormatName, string>> = {
  chat: 'gpt-5.2',
  messages: 'claude-opus-4-1',
  responses: 'gpt-5.4',
  generate: 'gemini-2.5-pro',
}

function bodyOf(format: FormatName, said: readonly Said[]): JsonObject {
  const list = said.map(({ isAnswer, text, listed, odd }) => {
    const role = isAnswer ? (format === 'generate' ? 'model' : 'assistant') : 'user'
    const extra = odd ? { odd: true } : {}
    if (format === 'generate') return { role, parts: [{ text }], ...extra }
    const type = format !== 'responses' ? 'text' : isAnswer ? 'output_text' : 'input_text'
    return { role, content: listed ? [{ type, text }] : text, ...extra }
  })
  return { model: 'm', [lists[format]]: list, ...(format === 'messages' ? { max_tokens: 9 } : {}), temperature: 0.5 }
}

const talk = (count: number, text = (index: number) => `${index}: "so"\n\\ and on`): Said[] =>
  Array.from({ length: count }, (_, index) => ({
    isAnswer: index % 2 === 1,
    text: text(index),
    listed: false,
    odd: false,
  }))

function piecesOf(format: FormatName, text: string | Buffer) {
  const document = readDocument(Buffer.from(text), format)
  if (isFault(document)) throw new Error(document.message)
  return document.pieces.filter((piece) => piece instanceof PlainTurns)
}

/** Only what is written without other spaces stays bytes: the same document in lines is read message by message. */
const inLines = (body: object) => JSON.stringify(body, null, 1)
const spaced = (body: object) =>
  JSON.stringify(body, null, 1)
    .replace(/([{[])\n */g, '$1')
    .replace(/\n *([}\]])/g, '$1')
    .replace(/,\n */g, ', ')

const pairs = formatNames.flatMap((from) => formatNames.filter((to) => to !== from).map((to) => [from, to] as const))

describe.each(pairs)('plain turns from %s to %s', (from, to) => {
  const translate = (text: string) => {
    const { body, losses, refused } = translateRequest(from, to, text, { model: models[to] })
    return { body, losses, refused }
  }

  it('stay bytes, and come out as if each had been read', () => {
    for (const listed of [false, true]) {
      const body = bodyOf(
        from,
        talk(21).map((one) => ({ ...one, listed })),
      )
      expect(piecesOf(from, inLines(body))).toEqual([])
      const expected = translate(inLines(body))
      expect(expected.body).toContain('19: \\"so\\"\\n')
      for (const text of [JSON.stringify(body), spaced(body)]) {
        expect(piecesOf(from, text).map(({ count }) => count)).toEqual([18])
        expect(translate(text)).toEqual(expected)
      }
    }
  })

  it('make no difference in any conversation', () => {
    const words = fc.oneof(
      { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 6 }) },
      fc.constantFrom(
        '',
        ' ',
        '\n',
        '\u00a0',
        '\u3000a',
        '\ud83d',
        '😀',
        'Ünï',
        '"',
        '\\',
        '\u0001',
        '\u2028',
        '/',
        '"}]},{"',
      ),
    )
    const said = fc.record({
      isAnswer: fc.constant(false),
      text: words,
      listed: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
      odd: fc.oneof({ weight: 19, arbitrary: fc.constant(false) }, fc.constant(true)),
    })
    const changes = fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false))
    const conversation = fc.array(fc.tuple(said, changes), { minLength: 1, maxLength: 30 }).map((all) => {
      let isAnswer = true
      return all.map(([one, changed]) => {
        if (changed) isAnswer = !isAnswer
        return { ...one, isAnswer }
      })
    })
    fc.assert(
      fc.property(conversation, (one) => {
        const body = bodyOf(from, one)
        const expected = translate(inLines(body))
        expect(translate(JSON.stringify(body))).toEqual(expected)
        expect(translate(spaced(body))).toEqual(expected)
      }),
      { numRuns: Number(process.env.SPGW_TRANSLATE_RUNS ?? 100) },
    )
  })
})

describe('plain turns', () => {
  it('count as many tokens as if each had been read', () => {
    const body = bodyOf('chat', talk(31))
    const [plain, read] = [JSON.stringify(body), inLines(body)].map((text) => {
      const document = readDocument(Buffer.from(text), 'chat')
      if (isFault(document)) throw new Error(document.message)
      const conversation = codecOf('chat').readRequest(document.value, { streamed: false, carriers: plainCarriers })
      if (isFault(conversation)) throw new Error(conversation.message)
      return estimateRequest(conversation, document.pieces)
    })
    expect(plain).toBe(read)
  })

  it('leave the places of all other messages as they were', () => {
    const said = [...talk(20), ...talk(3).map((one, index) => ({ ...one, odd: index === 1 }))]
    expect(piecesOf('chat', JSON.stringify(bodyOf('chat', said)))).toHaveLength(1)
    const { losses } = translateRequest('chat', 'messages', JSON.stringify(bodyOf('chat', said)), {})
    expect(losses).toContain('messages[21].odd')
  })

  it('are none where calls wait for their results', () => {
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
    const messages = asArray(bodyOf('chat', talk(21)).messages)
    const asked = [messages[0], { role: 'assistant', content: null, tool_calls: [call] }, ...messages]
    for (const text of [JSON.stringify({ model: 'm', messages: asked }), inLines({ model: 'm', messages: asked })])
      expect(translateRequest('chat', 'messages', text, {}).refused?.message).toContain('has no result')
  })

  it.each([
    ['a name that stands twice', (list: string) => `{"messages":${list},"messages":[{"role":"user","content":"x"}]}`],
    [
      'the same in another spelling',
      (list: string) => `{"messages":${list},"m\\u0065ssages":[{"role":"user","content":"x"}]}`,
    ],
    ['lists that stand twice', (list: string) => `{"messages":${list},"messages":${list}}`],
    [
      'a list that is not the messages',
      (list: string) => `{"metadata":{"messages":${list}},"messages":[{"role":"user","content":"x"}]}`,
    ],
    [
      'a name that ends like it',
      (list: string) => `{"\\"messages":${list},"messages":[{"role":"user","content":"x"}]}`,
    ],
  ])('take the list that counts: %s', (_, make) => {
    const messages = asArray(bodyOf('chat', talk(21)).messages)
    const text = make(JSON.stringify(messages))
    const last = JSON.parse(text)
    expect(translateRequest('chat', 'messages', text, {}).body).toBe(
      translateRequest('chat', 'messages', inLines(last), {}).body,
    )
  })

  it.each([
    ['bytes that are no UTF-8', (text: string) => Buffer.from(text.replace('4: ', '4\u00ff'), 'latin1')],
    ['escapes that are written otherwise', (text: string) => Buffer.from(text.replaceAll('and', '\\/and'))],
    ['texts of white space', (text: string) => Buffer.from(text.replaceAll(/\d+: \\"so\\"\\n\\\\ and on/g, '\\n '))],
  ])('are none with %s', (_, change) => {
    expect(piecesOf('chat', change(JSON.stringify(bodyOf('chat', talk(21)))))).toEqual([])
  })

  it.each([
    [
      'a comma too many',
      (text: string) => text.replace('},{"role":"assistant","content":"9', '},,{"role":"assistant","content":"9'),
    ],
    [
      'no comma',
      (text: string) => text.replace('},{"role":"assistant","content":"9', '}{"role":"assistant","content":"9'),
    ],
    ['a control character', (text: string) => text.replace('9: ', '9:\u0001')],
    ['an escape that is none', (text: string) => text.replace('9: ', '9:\\x')],
    ['an end in the midst', (text: string) => text.slice(0, text.indexOf('9: '))],
  ])('do not hide that a body is no JSON: %s', (_, change) => {
    const text = change(JSON.stringify(bodyOf('chat', talk(21))))
    expect(isFault(readDocument(Buffer.from(text), 'chat'))).toBe(true)
  })
})
