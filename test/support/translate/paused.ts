import type { FormatName } from '../../../src/core/format.ts'
import { asObject } from '../../../src/core/json/json-value.ts'
import { PartNumbers } from '../../../src/gateway/translation/part-numbers.ts'
import { applyEdits } from '../../../src/lanes/patch-body.ts'
import { addUsage, addUsageDetail } from '../../../src/lanes/usage-sum.ts'
import type { WriteContext } from '../../../src/translate/codec.ts'
import { parseLossless, readDocument, writeDocument } from '../../../src/translate/json.ts'
import type { Pausing } from '../../../src/translate/pausing.ts'
import type { ReplyUsage } from '../../../src/translate/reply.ts'
import { checkStream } from './grammar.ts'
import { readSse } from './sse.ts'
import { codecOf, UsageSoFar } from './stage.ts'

interface PausedParts {
  /** As the provider got it. */
  request: string
  /** The part of the answer that pauses, and the one after it. */
  answer: string
  rest: string
}

interface Resumed {
  /** What asks for the rest. */
  asked: string
  /** All of the answer, as the client gets it. */
  text: string
}

/** An answer whose provider pauses once, and is asked to go on. */
export function translatePaused(
  { from, to }: { from: FormatName; to: FormatName },
  parts: PausedParts,
  context: WriteContext,
): Resumed {
  const { pausing } = codecOf(to)
  if (pausing === undefined) throw new Error(`providers of ${to} do not pause`)
  return parts.answer.startsWith('{')
    ? resumeWhole({ from, to }, pausing, parts, context)
    : resumeStream({ from, to }, pausing, parts, context)
}

function askForRest(pausing: Pausing, request: string, blocks: readonly string[] | null, usage?: UsageSoFar): string {
  if (blocks === null) throw new Error('the answer does not pause')
  const body = Buffer.from(request)
  const edits = pausing.editRequest(body, blocks, usage?.read()?.tokens.output ?? 0)
  if (edits === null) throw new Error('the output limit leaves nothing for the rest')
  return applyEdits(body, edits).toString()
}

function resumeWhole(
  { from, to }: { from: FormatName; to: FormatName },
  pausing: Pausing,
  { request, answer, rest }: PausedParts,
  context: WriteContext,
): Resumed {
  const usages = [answer, rest].map((text) => {
    const usage = new UsageSoFar(to)
    usage.take(asObject(parseLossless(text)) ?? {})
    return usage
  })
  const blocks = pausing.readWhole(Buffer.from(answer))
  const asked = askForRest(pausing, request, blocks, usages[0])
  const last = Buffer.from(rest)
  const { value, pieces } = documentOf(applyEdits(last, pausing.editAnswer(last, blocks ?? [])))
  const reply = codecOf(to).readReply(value)
  if ('code' in reply) throw new Error(reply.message)
  const written = codecOf(from).writeReply(reply, { ...context, usage: () => sum(usages) })
  return { asked, text: writeDocument(written, pieces).toString() }
}

function documentOf(body: Buffer) {
  const document = readDocument(body)
  if ('code' in document) throw new Error(document.message)
  return document
}

/** As `TranslationStage` does it: one writer, a reader and a usage for each part. */
function resumeStream(
  { from, to }: { from: FormatName; to: FormatName },
  pausing: Pausing,
  { request, answer, rest }: PausedParts,
  context: WriteContext,
): Resumed {
  const usages: UsageSoFar[] = []
  const writer = codecOf(from).openWriter({ ...context, usage: () => sum(usages) })
  const numbers = new PartNumbers()
  const written: string[] = []
  const pass = (text: string) => {
    const reader = codecOf(to).openReader()
    const blocks = pausing.openBlocks()
    const usage = new UsageSoFar(to)
    usages.push(usage)
    for (const { name, data } of readSse(text)) {
      if (data === null) continue
      usage.take(data)
      blocks.add(data)
      written.push(writer.events(numbers.events(reader.event(name, data))))
    }
    return { blocks: blocks.read(), usage, reader }
  }
  const first = pass(answer)
  const asked = askForRest(pausing, request, first.blocks, first.usage)
  numbers.begin()
  const { reader } = pass(rest)
  written.push(writer.events(numbers.events(reader.end())), writer.end())
  const stream = written.join('')
  const faults = checkStream(from, stream)
  if (faults.length > 0) throw new Error(faults.join('\n'))
  return { asked, text: stream }
}

function sum(usages: readonly UsageSoFar[]): ReplyUsage | null {
  return usages.reduce<ReplyUsage | null>((before, part) => {
    const one = part.read()
    const tokens = addUsage(before?.tokens ?? null, one?.tokens ?? null)
    return tokens === null ? null : { tokens, detail: addUsageDetail(before?.detail ?? null, one?.detail ?? null) }
  }, null)
}
