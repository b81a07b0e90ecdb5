import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type FormatName, formatNames } from '../../src/core/format.ts'
import { blankSettings, type Conversation } from '../../src/translate/conversation.ts'
import { parseGolden } from '../support/translate/golden-case.ts'
import { checkStream } from '../support/translate/grammar.ts'
import { readGenerateWithSdk, readResponsesWithSdk } from '../support/translate/openai-google-sdk.ts'
import { readChatWithSdk, readInput, readMessagesWithSdk, type SdkAnswer } from '../support/translate/sdk.ts'
import { readSse, type SentEvent } from '../support/translate/sse.ts'
import { blankConversation, codecOf, translateEvents, writeContext } from '../support/translate/stage.ts'

const folder = join(import.meta.dirname, '../fixtures/translate')
const goldens = globSync('**/*.txt', { cwd: folder })
  .sort()
  .map((file) => ({ file, golden: parseGolden(readFileSync(join(folder, file), 'utf8')) }))
  .filter(({ golden }) => golden.sections.get('answer in')?.startsWith('{') === false)

const sdks: Readonly<Record<FormatName, typeof readChatWithSdk>> = {
  chat: readChatWithSdk,
  responses: readResponsesWithSdk,
  messages: readMessagesWithSdk,
  generate: readGenerateWithSdk,
}

/** Gemini's clients get thoughts only where they ask for them. */
const seeingReasoning: Conversation = {
  ...blankConversation,
  settings: {
    ...blankSettings,
    reasoning: { path: 'reasoning', effort: null, budget: null, visible: true, encrypted: false },
  },
}

/** What a provider streams, to clients of every other format. */
const streams = goldens.flatMap(({ file, golden }) =>
  formatNames.filter((client) => client !== golden.to).map((client) => ({ file, golden, client })),
)

describe.each(streams)('$file for $client', ({ golden, client }) => {
  const events = readSse(golden.sections.get('answer in') ?? '')
  const isWhole = golden.settings.get('cut') !== 'yes'

  it('is valid when the provider breaks off after any event', () => {
    for (let end = 0; end <= events.length; end++) {
      const written = translateEvents(client, golden.to, events.slice(0, end), writeContext(), true).join('')
      expect(checkStream(client, written)).toEqual([])
    }
  })

  it('is read by the SDK, and a broken one makes it throw', async () => {
    const readWithSdk = sdks[client]
    const stream = translateEvents(client, golden.to, events, writeContext(), !isWhole).join('')
    const answer = await readWithSdk(stream)
    const endsInError = !isWhole || /"error":\{/.test(stream)
    expect(answer.error === null).toBe(!endsInError)
    // Only some formats say a refusal as text.
    const refuses = events.some(({ data }) => /"refusal":"[^"]/.test(JSON.stringify(data)))
    const read = readEvents(golden.to, events)
    if (!endsInError && !refuses) {
      if (read.calls.some(isCut)) expect(stopsOfCuts).toContain(answer.stop)
      else expect(said(answer)).toEqual(said(read))
    }
    const cut = translateEvents(client, golden.to, events.slice(0, -1), writeContext(), true).join('')
    expect((await readWithSdk(cut)).error).not.toBeNull()
  })

  // Gemini's clients get a call when it is whole, and what follows it after that.
  if (client === 'generate') return
  it('says nothing before the first content', () => {
    const context = writeContext({ conversation: seeingReasoning })
    const written = translateEvents(client, golden.to, events, context, !isWhole)
    const first = written.findIndex((text) => text !== '')
    const silent = events.filter(({ data }) => data !== null).slice(0, first)
    expect(silent.filter(hasContent)).toEqual([])
    if (first > 0 && first < silent.length) expect(silent.length).toBe(first)
  })
})

/** The same without an SDK, from what the codec reads. */
function readEvents(provider: FormatName, events: readonly SentEvent[]): Pick<SdkAnswer, 'text' | 'calls'> {
  const reader = codecOf(provider).openReader()
  const read = events.flatMap(({ name, data }) => (data === null ? [] : [...reader.event(name, data)]))
  let text = ''
  const calls = new Map<number, { name: string; input: string }>()
  for (const event of [...read, ...reader.end()]) {
    if (event.kind === 'text') text += event.text
    else if (event.kind === 'call') calls.set(event.part, { name: event.name, input: '' })
    else if (event.kind === 'arguments') {
      const call = calls.get(event.part)
      if (call !== undefined) call.input += event.text
    }
  }
  return { text, calls: [...calls.values()].map(({ name, input }) => [name, readInput(input || '{}')]) }
}

/** Of a call that a limit or a filter cut in two each SDK makes what it can; the answer says that it is not whole. */
function isCut([, input]: SdkAnswer['calls'][number]): boolean {
  return typeof input === 'string'
}

const stopsOfCuts = ['content_filter', 'refusal', 'SAFETY', 'incomplete']

/** Formats that have parts in their order say texts and calls in another one. */
function said({ text, calls }: Pick<SdkAnswer, 'text' | 'calls'>) {
  return { text, calls: calls.map((call) => JSON.stringify(call)).sort() }
}

function hasContent({ data }: SentEvent): boolean {
  return /"(?:text|thinking|content|reasoning_content|arguments|partial_json)":"[^"]/.test(JSON.stringify(data))
}

/** All ways to put the lists into one another, each in its own order. */
function* interleave<T>(lists: readonly (readonly T[])[]): Generator<T[]> {
  if (lists.every((list) => list.length === 0)) {
    yield []
    return
  }
  for (const [index, list] of lists.entries()) {
    const [first, ...rest] = list
    if (first === undefined) continue
    for (const others of interleave(lists.map((one, at) => (at === index ? rest : one)))) yield [first, ...others]
  }
}

function chunk(delta: object, finish: string | null = null): SentEvent {
  const data = { id: 'chatcmpl-ABCDEFGH', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] }
  return { name: '', data, raw: '' }
}

function call(index: number): SentEvent[] {
  const piece = (inside: object, more: object = {}) => chunk({ tool_calls: [{ index, ...more, function: inside }] })
  return [
    piece({ name: `f${index}`, arguments: '' }, { id: `call_${index}`, type: 'function' }),
    piece({ arguments: '{"n"' }),
    piece({ arguments: `:${index}}` }),
  ]
}

/** `SPGW_TRANSLATE_RUNS` is set: each. */
const everyOrder = process.env.SPGW_TRANSLATE_RUNS === undefined ? 40 : 1

describe('three calls in every order of their chunks', () => {
  const orders = [...interleave([call(0), call(1), call(2)])]
  const text = chunk({ role: 'assistant', content: 'I look.' })

  it.each(['messages', 'chat', 'responses', 'generate'] as const)('are whole for a client of %s', async (client) => {
    expect(orders).toHaveLength(1680)
    for (const [index, order] of orders.entries()) {
      const stream = translateEvents(client, 'chat', [text, ...order, chunk({}, 'tool_calls')], writeContext()).join('')
      expect(checkStream(client, stream)).toEqual([])
      if (index % 60 > 0) continue
      const read = await sdks[client](stream)
      expect(read?.error).toBeNull()
      expect([...(read?.calls ?? [])].sort()).toEqual([0, 1, 2].map((n) => [`f${n}`, { n }]))
    }
  })

  it.each(formatNames)(
    'are whole in their beginning for a client of %s when the provider breaks off anywhere',
    (client) => {
      for (const order of orders.filter((_, index) => index % everyOrder === 0)) {
        for (let end = 0; end <= order.length; end++) {
          const events = [text, ...order.slice(0, end)]
          const stream = translateEvents(client, 'chat', events, writeContext(), true).join('')
          expect(checkStream(client, stream)).toEqual([])
        }
      }
    },
  )
})
