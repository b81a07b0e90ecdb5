import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseObject } from '../../src/core/json/json-value.ts'
import type { Codec } from '../../src/translate/codec.ts'
import { blankSettings, type Conversation } from '../../src/translate/conversation.ts'
import { parseLossless } from '../../src/translate/json.ts'
import { type GoldenCase, parseGolden, sameJson, showJson, writeGolden } from '../support/translate/golden-case.ts'
import { checkStream } from '../support/translate/grammar.ts'
import { translatePaused } from '../support/translate/paused.ts'
import {
  blankConversation,
  codecOf,
  isFault,
  type RequestOptions,
  translateReply,
  translateRequest,
  translateStream,
  writeContext,
} from '../support/translate/stage.ts'

const folder = join(import.meta.dirname, '../fixtures/translate')
const files = globSync('**/*.txt', { cwd: folder }).sort()
/** `SPGW_GOLDEN=write` writes what comes out into the cases: read the difference before it is committed. */
const writes = process.env.SPGW_GOLDEN === 'write'

describe.each(files)('%s', (file) => {
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  const golden = parseGolden(text)

  it(golden.title, () => {
    const found = runGolden(golden)
    if (writes) {
      const kept = [...golden.sections].filter(([name]) => name.endsWith(' in'))
      writeFileSync(
        path,
        writeGolden(text, new Map([...kept, ...found].map(([name, section]) => [name, shown(section)]))),
      )
      return
    }
    const expected = new Map([...golden.sections].filter(([name]) => !name.endsWith(' in')))
    expect(comparable(found)).toEqual(comparable(expected))
  })
})

function shown(section: string): string {
  return section.startsWith('{') ? showJson(parseLossless(section)) : section.trimEnd()
}

function comparable(sections: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries([...sections].map(([name, section]) => [name, sameJson(section.trimEnd())]))
}

/** What comes out, by section. */
function runGolden(golden: GoldenCase): Map<string, string> {
  const found = new Map<string, string>()
  const request = golden.sections.get('request in')
  const conversation = request === undefined ? readAnswerOnly(golden) : readRequest(golden, request, found)
  const answer = golden.sections.get('answer in')
  const rest = golden.sections.get('rest in')
  if (answer !== undefined && rest !== undefined) {
    const context = writeContext({ conversation })
    const { asked, text } = translatePaused(golden, { request: found.get('request out') ?? '', answer, rest }, context)
    found.set('rest asked', asked).set('answer out', text)
  } else if (answer !== undefined) found.set('answer out', translateAnswer(golden, answer, conversation))
  const error = golden.sections.get('error in')
  if (error !== undefined) found.set('error out', translateError(codecOf(golden.from), codecOf(golden.to), error))
  return found
}

function readRequest(
  { from, to, settings, sections }: GoldenCase,
  text: string,
  found: Map<string, string>,
): Conversation {
  const isYes = (name: string) => settings.get(name) === 'yes'
  const count = (name: string) => (settings.has(name) ? Number(settings.get(name)) : null)
  const options: RequestOptions = {
    model: settings.get('model') ?? 'test-model',
    strict: isYes('strict'),
    compatible: isYes('compatible'),
    vertex: isYes('vertex'),
    bedrock: isYes('bedrock'),
    logprobs: isYes('logprobs') || !isYes('compatible'),
    reasoningContent: isYes('reasoning content'),
    maxOutput: count('max output'),
    outputCap: count('output cap'),
    ...(settings.has('streamed') ? { streamed: isYes('streamed') } : {}),
  }
  const { body, losses, refused, conversation } = translateRequest(from, to, text, options)
  const isShown = sections.has('request out') || sections.has('rest in') || !sections.has('answer in')
  if (body !== null && isShown) found.set('request out', body)
  if (refused !== null) found.set('refused', `${refused.param}\n${refused.message}`)
  else if (losses.length > 0) found.set('losses', losses.join('\n'))
  return conversation
}

/** A case of an answer alone: the client asked for it in the way that it comes. */
function readAnswerOnly({ sections, settings }: GoldenCase): Conversation {
  const streamed = sections.get('answer in')?.startsWith('{') === false
  const carriesReasoning = settings.get('extra content') === 'yes'
  return { ...blankConversation, settings: { ...blankSettings, streamed, streamUsage: streamed, carriesReasoning } }
}

function translateAnswer({ from, to, settings }: GoldenCase, answer: string, conversation: Conversation): string {
  const context = writeContext({
    conversation,
    reasoningText: settings.get('reasoning text') !== 'off',
  })
  if (answer.startsWith('{')) {
    const whole = translateReply(from, to, answer, context)
    return typeof whole === 'string' ? whole : `${whole.code}\n${whole.message}`
  }
  const stream = translateStream(from, to, answer, context, settings.get('cut') === 'yes')
  expect(checkStream(from, stream)).toEqual([])
  return stream
}

/** The status, then the body, which may be no JSON. */
function translateError(client: Codec, provider: Codec, text: string): string {
  const [status = '', ...lines] = text.split('\n')
  const error = provider.readError(Number(status), parseObject(Buffer.from(lines.join('\n'))))
  const written = client.writeError(error, 'req_1')
  expect(isFault(written.body)).toBe(false)
  return `${written.status}\n${JSON.stringify(written.body)}`
}
