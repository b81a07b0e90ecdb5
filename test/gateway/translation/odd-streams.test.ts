import { describe, expect, it } from 'vitest'
import { type FormatName, formatNames } from '../../../src/core/format.ts'
import type { JsonObject } from '../../../src/core/json/json-value.ts'
import { flow, streamOf } from '../../support/translate/flow.ts'
import { checkStream } from '../../support/translate/grammar.ts'

const eventsOf = (text: string) => text.split(/\r?\n\r?\n/).filter((event) => event !== '')
const joined = (events: readonly string[]) => events.map((event) => `${event}\n\n`).join('')
const between = (text: string, ...more: readonly string[]) =>
  joined(eventsOf(text).flatMap((event) => [event, ...more]))

/** Streams that say the same in another way. */
const same: Readonly<Record<string, (text: string) => string>> = {
  'a byte order mark': (text) => `\ufeff${text}`,
  'lines that end in CRLF': (text) => text.replaceAll(/\r?\n/g, '\r\n'),
  'lines that end in CR': (text) => text.replaceAll(/\r?\n/g, '\r'),
  'comments, ids and times to wait': (text) =>
    `: hello\n\n${joined(eventsOf(text).flatMap((event) => [`: c\nid: 7\nretry: 10\n${event}`, ': alive']))}`,
  'no space after colons': (text) => text.replaceAll('data: ', 'data:').replaceAll('event: ', 'event:'),
  'data on several lines': (text) => text.replaceAll(/data: \{(.*)/g, 'data: {\ndata: $1'),
  'many empty lines': (text) => text.replaceAll(/\r?\n\r?\n/g, '\n\n\n\n\n'),
  'events that nobody knows': (text) =>
    between(text, 'event: telepathy\ndata: {"type":"telepathy","x":1}', 'data: {"x":{"y":null}}'),
  'events without names': (text) => text.replaceAll(/event: .*\r?\n/g, ''),
  'values that are no objects': (text) => between(text, 'data: 5', 'data: null', 'data: [1]', 'data: ', 'data: ping'),
  'its end twice': (text) => joined([...eventsOf(text), eventsOf(text).at(-1) ?? '']),
}

const pairs = formatNames.flatMap((provider) =>
  formatNames.filter((client) => client !== provider).map((client) => ({ provider, client })),
)

describe.each(pairs)('a stream of $provider for a client of $client', ({ provider, client }) => {
  const text = streamOf(provider).toString()
  const whole = flow(provider, client, [Buffer.from(text)])

  it.each(Object.keys(same).filter((name) => provider !== 'generate' || name !== 'its end twice'))(
    'says the same with %s',
    (name) => {
      const { written, error } = flow(provider, client, [Buffer.from(same[name]?.(text) ?? '')])
      expect({ written, error }).toEqual({ written: whole.written, error: null })
    },
  )

  it.each([/Ich|sehe/, /Rome|ome|partial_json/])('ends in an error where an event with %s is no JSON', (said) => {
    const events = eventsOf(text)
    const at = events.findIndex((event) => said.test(event))
    events[at] = events[at]?.slice(0, -5) ?? ''
    const { written, error } = flow(provider, client, [Buffer.from(joined(events))])
    expect(error?.code).toBe('provider_bad_response')
    expect(checkStream(client, written)).toEqual([])
  })
})

/** Of each event its data, changed. */
function changed(text: string, change: (data: JsonObject) => unknown): string {
  return text.replaceAll(/data: (\{.*)/g, (_, data: string) => `data: ${JSON.stringify(change(JSON.parse(data)))}`)
}

describe.each(['chat', 'messages', 'generate'] as const)(
  'what servers leave out or repeat, for a client of %s',
  (client) => {
    const pass = (provider: FormatName, text: string) => flow(provider, client, [Buffer.from(text)])
    const responses = streamOf('responses').toString()

    it('numbers of items, where their ids are said', () => {
      const bare = changed(responses, ({ output_index: _, content_index: __, ...data }) => data)
      expect(pass('responses', bare).written).toBe(pass('responses', responses).written)
    })

    it('events of calls, where the end has them', () => {
      const silent = joined(
        eventsOf(responses).filter((event) => !/function_call/.test(event) || /completed"/.test(event)),
      )
      expect(silent).not.toContain('function_call_arguments')
      const { written, error } = pass('responses', silent)
      expect(error).toBeNull()
      for (const name of ['weather', 'time']) expect(written).toContain(`"${name}"`)
      expect(written).toMatch(/Rome/)
      expect(checkStream(client, written)).toEqual([])
    })

    it('vLLM 47916: the ids of calls, which the end has others for', () => {
      const [last = '', ...before] = eventsOf(responses).toReversed()
      const renamed = last.replaceAll(/"(call_id|id)":"(call|fc|ctc)_[^"]*"/g, '"$1":"$2_other"')
      expect(renamed).not.toBe(last)
      const { written, error } = pass('responses', joined([...before.toReversed(), renamed]))
      expect({ written, error }).toEqual({ written: pass('responses', responses).written, error: null })
    })

    it('the same call twice, whose arguments are not what they were', () => {
      const { written, error } = pass('responses', joined(eventsOf(responses).flatMap((event) => [event, event])))
      expect(error?.code).toBe('provider_bad_response')
      expect(checkStream(client, written)).toEqual([])
    })
  },
)

it.each([
  ['chat', { usage: { prompt_tokens: 190, completion_tokens: 1, total_tokens: 191 } }],
  ['generate', { usageMetadata: { promptTokenCount: 190, candidatesTokenCount: 1, totalTokenCount: 191 } }],
] as const)('Bifrost 5354, Bifrost 3451: usage that %s says with each event is the last', (provider, early) => {
  const running = changed(streamOf(provider).toString(), (data) => ({ ...early, ...data }))
  const { written } = flow(provider, 'messages', [Buffer.from(running)])
  expect(written.slice(written.lastIndexOf('message_delta'))).toMatch(/"input_tokens":140,.*"output_tokens":70,/)
})

describe.each(['chat', 'responses', 'generate'] as const)('blocks of Anthropic, for a client of %s', (client) => {
  it('that have no beginning are texts all the same, and calls without one are listed', () => {
    const text = streamOf('messages').toString()
    const headless = joined(eventsOf(text).filter((event) => !event.includes('content_block_start')))
    const { written, lost, error } = flow('messages', client, [Buffer.from(headless)])
    expect(error).toBeNull()
    expect(written).toContain('sehe')
    expect(lost).toContain('answer.content[2].input_json')
    expect(checkStream(client, written)).toEqual([])
  })
})
