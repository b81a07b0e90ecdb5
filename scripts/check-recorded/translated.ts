import { type FormatName, formatNames } from '../../src/core/format.ts'
import { asObject, parseObject } from '../../src/core/json/json-value.ts'
import { checkStream } from '../../test/support/translate/grammar.ts'
import { readGenerateWithSdk, readResponsesWithSdk } from '../../test/support/translate/openai-google-sdk.ts'
import { readChatWithSdk, readMessagesWithSdk } from '../../test/support/translate/sdk.ts'
import { readSse } from '../../test/support/translate/sse.ts'
import { translateEvents, translateReply, translateRequest, writeContext } from '../../test/support/translate/stage.ts'
import type { Exchange } from './cassettes.ts'

const sdks = {
  chat: readChatWithSdk,
  responses: readResponsesWithSdk,
  messages: readMessagesWithSdk,
  generate: readGenerateWithSdk,
} satisfies Record<FormatName, unknown>

/** Plain models, which accept most. */
const models: Readonly<Record<FormatName, string>> = {
  chat: 'gpt-oss-120b',
  responses: 'gpt-4.1',
  messages: 'claude-sonnet-4-5',
  generate: 'gemini-3-pro',
}

export interface TranslatedCounts {
  requests: number
  refused: number
  answers: number
  streams: number
  wrong: number
}

/** Puts recorded exchanges into the other formats: what a client of them would have sent on, and what it would have got. */
export class TranslationCheck {
  /** `messages to chat`. */
  readonly counts = new Map<string, TranslatedCounts>()
  /** Members that no table of losses names, with how often they were found. */
  readonly unknown = new Map<string, number>()

  /** What is wrong, in words. */
  async take(exchange: Exchange): Promise<string[]> {
    const from = formatOf(exchange)
    if (from === null) return []
    const wrong: string[] = []
    for (const to of formatNames) {
      if (to === from) continue
      const counts = this.#countsOf(`${from} to ${to}`)
      const found = await attempt(async () => [
        ...this.#takeRequest(from, to, exchange, counts),
        ...(exchange.status < 300 ? await takeAnswer(from, to, exchange, counts) : []),
      ])
      if (found.length > 0) counts.wrong++
      wrong.push(...found.map((words) => `${from} to ${to}: ${words}`))
    }
    return wrong
  }

  #takeRequest(from: FormatName, to: FormatName, { request }: Exchange, counts: TranslatedCounts): string[] {
    if (parseObject(request) === null) return []
    const { conversation, refused } = translateRequest(from, to, request.toString(), { model: models[to] })
    counts[refused === null ? 'requests' : 'refused']++
    for (const { field, path } of conversation.seen) {
      if (field !== 'unknown') continue
      const member = `${from}: ${path.replaceAll(/\[\d+\]/g, '')}`
      this.unknown.set(member, (this.unknown.get(member) ?? 0) + 1)
    }
    return refused?.code === 'invalid_request' && refused.param !== undefined ? [`the request: ${refused.message}`] : []
  }

  #countsOf(pair: string): TranslatedCounts {
    const counts = this.counts.get(pair) ?? { requests: 0, refused: 0, answers: 0, streams: 0, wrong: 0 }
    this.counts.set(pair, counts)
    return counts
  }
}

const formatsByEnding: readonly (readonly [RegExp, FormatName])[] = [
  [/\/chat\/completions$/, 'chat'],
  [/\/responses$/, 'responses'],
  [/\/messages$/, 'messages'],
  [/:(?:streamG|g)enerateContent$/, 'generate'],
]

function formatOf({ method, url }: Exchange): FormatName | null {
  if (method !== 'POST') return null
  return formatsByEnding.find(([ending]) => ending.test(url.pathname))?.[1] ?? null
}

/** The answer of a provider of the format `from`, to a client of the format `client`. */
async function takeAnswer(
  from: FormatName,
  client: FormatName,
  { answer }: Exchange,
  counts: TranslatedCounts,
): Promise<string[]> {
  const text = answer.toString()
  if (!/^\s*(?:event|data|id|retry)?:/.test(text.slice(0, 200))) {
    counts.answers++
    const whole = translateReply(client, from, text, writeContext())
    return typeof whole === 'string' ? [] : [`the answer: ${whole.message}`]
  }
  counts.streams++
  const events = readSse(text)
  const stream = translateEvents(client, from, events, writeContext()).join('')
  const { error } = await sdks[client](stream)
  // What the provider itself ends in an error must end in one for the client's SDK too.
  const failed = events.some(({ name, data }) => name === 'error' || asObject(data?.error) !== null)
  const problem = error === null ? 'it did not see the error' : error
  return [...checkStream(client, stream), ...((error !== null) === failed ? [] : [`the SDK: ${problem}`])]
}

async function attempt(run: () => Promise<string[]>): Promise<string[]> {
  try {
    return await run()
  } catch (error) {
    return [`threw ${error instanceof Error ? error.stack : String(error)}`]
  }
}
