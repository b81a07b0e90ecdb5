import type { JsonObject } from '../../core/json/json-value.ts'
import type { CacheMarks } from '../cache-marks.ts'
import { argumentsObject } from '../call-arguments.ts'
import type { TranslationTarget } from '../codec.ts'
import type { MediaPart, TextPart, Tool } from '../conversation.ts'
import { wrapCustomInput } from '../custom-tools.ts'
import { writeDataUrl } from '../data-url.ts'
import { fileNameFor } from '../file-name.ts'
import { callIdFor, toolNameFor } from '../ids.ts'
import { embedTurns } from '../json.ts'
import type { Ledger } from '../ledger.ts'
import { namedText, sniffType, storedFile } from '../media-type.ts'
import type { ModelFacts } from '../model-facts.ts'
import { cacheMarkPath, failurePath } from '../setting-paths.ts'
import { isMedia, type NamedCall, type NamedResult, type OrderedTurn, type OrderedTurns } from '../turns.ts'
import { detailsIn, nameCalls, unsignedDetail } from './reasoning-details.ts'

type MarkedPart = Pick<TextPart, 'cacheMark' | 'path'>

export interface TurnWriting {
  target: TranslationTarget
  facts: ModelFacts
  ledger: Ledger
  tools: readonly Tool[]
  /** Anthropic's, where the vendor takes them. */
  marks: CacheMarks | null
  /** Whether OpenRouter's model takes back what it thought. */
  keepsDetails: boolean
}

export function writeTurns({ system, turns }: OrderedTurns, writing: TurnWriting): unknown[] {
  const role = writing.facts.developerRole && !writing.target.compatible ? 'developer' : 'system'
  const leading = system.length === 0 ? [] : [{ role, content: writeTexts(system, writing) }]
  return [
    ...leading,
    ...turns.flatMap((turn): unknown => {
      if (turn.plain !== undefined) return embedTurns(turn.plain, 'chat')
      if (turn.role === 'system')
        return [
          {
            role,
            content: writeTexts(
              turn.parts.filter((part) => part.kind === 'text'),
              writing,
            ),
          },
        ]
      return turn.role === 'user' ? writeUser(turn, writing) : writeAssistant(turn, writing)
    }),
  ]
}

/** A plain string unless a part needs a cache mark: servers other than OpenAI's may not accept lists of texts. */
function writeTexts(texts: readonly TextPart[], writing: TurnWriting): string | JsonObject[] {
  const isMarked = texts.some(({ cacheMark }) => cacheMark !== undefined)
  if (writing.target.compatible && !(isMarked && writing.marks !== null)) {
    loseMarks(texts, writing)
    return joinTexts(texts)
  }
  const [only] = texts
  if (texts.length === 1 && only !== undefined && !isMarked) return only.text
  return texts.map((part) => writeMarked({ type: 'text', text: part.text }, part, writing))
}

function joinTexts(texts: readonly TextPart[]): string {
  return texts.map(({ text }) => text).join('\n\n')
}

function loseMarks(parts: readonly MarkedPart[], { ledger }: TurnWriting): void {
  for (const { cacheMark, path } of parts) if (cacheMark !== undefined) ledger.lose(cacheMarkPath(ledger.from, path))
}

/** A message of the assistant's, or a result, of texts: at OpenRouter both have one text, and one mark beside it. */
function writeMarkedMessage(message: JsonObject, texts: readonly TextPart[], writing: TurnWriting): JsonObject {
  if (writing.marks === null) return { ...message, content: writeTexts(texts, writing) }
  const marked = texts.filter(({ cacheMark }) => cacheMark !== undefined)
  const last = marked.pop()
  loseMarks(marked, writing)
  const written = { ...message, content: joinTexts(texts) }
  return last === undefined ? written : writeMarked(written, last, writing)
}

function writeMarked(block: JsonObject, part: MarkedPart, writing: TurnWriting): JsonObject {
  const { cacheMark: mark } = part
  if (mark === undefined) return block
  if (writing.marks !== null) return writing.marks.on(block, part)
  if (writing.target.compatible) {
    loseMarks([part], writing)
    return block
  }
  const ttl = mark === '1h' || mark === '12h' ? '12h' : '30m'
  return { ...block, prompt_cache_breakpoint: { mode: 'explicit', ttl } }
}

/** Results are messages of their own and come first. Their content other than text follows in the user's message. */
function writeUser(turn: OrderedTurn, writing: TurnWriting): JsonObject[] {
  const { ledger } = writing
  const results = turn.parts.filter((part) => part.kind === 'result')
  const media = results.flatMap((result) =>
    result.parts.filter(isMedia).map((part) => {
      ledger.lose(part.path)
      return part
    }),
  )
  const rest = turn.parts.filter((part): part is TextPart | MediaPart => part.kind === 'text' || isMedia(part))
  for (const part of turn.parts) {
    if (part.kind === 'server' || part.kind === 'reasoning' || part.kind === 'refusal') ledger.lose(part.path)
  }
  const content = writeContent([...media, ...rest], writing)
  return [
    ...results.map((result) => writeResult(result, writing)),
    ...(content === null ? [] : [{ role: 'user', content }]),
  ]
}

function writeResult(result: NamedResult, writing: TurnWriting): JsonObject {
  const { ledger } = writing
  const texts = result.parts.filter((part): part is TextPart => part.kind === 'text')
  const failed = result.failed
  if (failed) ledger.lose(failurePath(ledger.from, result.path))
  const [first, ...others] = texts
  const marked: TextPart[] = failed
    ? [{ kind: 'text', path: result.path, ...first, text: `Error: ${first?.text ?? ''}`.trimEnd() }, ...others]
    : texts
  const last = marked.at(-1)
  if (result.cacheMark !== undefined) {
    if (last === undefined) ledger.lose(cacheMarkPath(ledger.from, result.path))
    else marked[marked.length - 1] = { ...last, path: result.path, cacheMark: result.cacheMark }
  }
  const message = { role: 'tool', tool_call_id: callIdFor('chat', result.callId) }
  return marked.length > 0 ? writeMarkedMessage(message, marked, writing) : { ...message, content: '' }
}

function writeContent(parts: readonly (TextPart | MediaPart)[], writing: TurnWriting): string | JsonObject[] | null {
  if (parts.length === 0) return null
  if (parts.every((part): part is TextPart => part.kind === 'text')) return writeTexts(parts, writing)
  const { ledger } = writing
  return parts.flatMap((part) => {
    const written = part.kind === 'text' ? { type: 'text', text: part.text } : writeMedia(part, ledger)
    return written === null ? [] : [writeMarked(written, part, writing)]
  })
}

function writeMedia(part: MediaPart, ledger: Ledger): JsonObject | null {
  const { source, path } = part
  if (source.kind === 'id') {
    ledger.refuse(path, storedFile)
    return null
  }
  switch (part.kind) {
    case 'image': {
      if (source.kind === 'text') break
      const url =
        source.kind === 'url'
          ? source.url
          : writeDataUrl(sniffType(source.type || 'image/png', source.data), source.data)
      return { type: 'image_url', image_url: { url, ...(part.detail === undefined ? {} : { detail: part.detail }) } }
    }
    case 'audio': {
      const format = source.kind === 'data' ? audioFormat(source.type) : null
      if (source.kind !== 'data' || format === null) break
      return { type: 'input_audio', input_audio: { data: source.data, format } }
    }
    case 'file': {
      if (source.kind === 'url') break
      // Plain text is sent as text: few servers accept files.
      if (source.kind === 'text') return { type: 'text', text: namedText(part.name, source.data) }
      const type = sniffType(source.type, source.data)
      return {
        type: 'file',
        file: { filename: fileNameFor(type, part.name ?? 'document'), file_data: writeDataUrl(type, source.data) },
      }
    }
  }
  const what = source.kind === 'url' ? `${part.kind} by its address` : `${part.kind} of this type`
  const fetched = part.kind === 'file' && source.kind === 'url'
  const route = fetched ? ', or ask the operator to let the route fetch it (--fetch-media)' : ''
  ledger.refuse(path, `it accepts no ${what}; send its content as base64${route}`)
  return null
}

function audioFormat(type: string): string | null {
  if (/^audio\/(?:x-)?wave?$/.test(type)) return 'wav'
  return /^audio\/(?:mp3|mpeg)$/.test(type) ? 'mp3' : null
}

function writeAssistant(turn: OrderedTurn, writing: TurnWriting): JsonObject[] {
  const { ledger, target, keepsDetails } = writing
  const texts: TextPart[] = []
  const calls: NamedCall[] = []
  const thoughts: string[] = []
  const signed: JsonObject[] = []
  let refusal = ''
  for (const part of turn.parts) {
    const own = part.kind === 'call' || part.kind === 'reasoning' ? detailsIn(part.opaque, target.model) : []
    if (keepsDetails) signed.push(...own)
    else if (own.length > 0) ledger.strip(part.path)
    if (part.kind === 'call' && part.opaque?.form === 'details' && own.length === 0) ledger.lose(part.path)
    if (part.kind === 'text') texts.push(part)
    else if (part.kind === 'call') calls.push(part)
    else if (part.kind === 'refusal') refusal += part.text
    else if (part.kind === 'reasoning' && target.reasoningContent && part.opaque === undefined && part.text !== '')
      thoughts.push(part.text)
    else if (isMedia(part)) ledger.refuse(part.path, "an assistant's message holds no files")
    else if (own.length === 0) ledger.lose(part.path)
  }
  if (texts.length === 0 && calls.length === 0 && refusal === '') return []
  const details = writeDetails(signed, calls, writing)
  const role = 'assistant'
  const message = texts.length === 0 ? { role, content: null } : writeMarkedMessage({ role }, texts, writing)
  return [
    Object.assign(message, {
      ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join('\n') }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(refusal === '' ? {} : { refusal }),
      ...(calls.length === 0 ? {} : { tool_calls: calls.map((call) => writeCall(call, writing)) }),
    }),
  ]
}

function writeDetails(signed: readonly JsonObject[], calls: readonly NamedCall[], writing: TurnWriting) {
  const { target, facts, ledger } = writing
  const [first] = calls
  const isWanted = target.cacheControl === true && facts.family === 'gemini' && facts.reasoning.control === 'level'
  if (signed.length > 0 || first === undefined || !isWanted) return nameCalls(signed, calls)
  ledger.lose(`${first.path}.thought_signature`)
  return [unsignedDetail(first)]
}

function writeCall(call: NamedCall, { target, facts, ledger }: TurnWriting): JsonObject {
  const id = callIdFor('chat', call.id)
  const name = toolNameFor('chat', call.name)
  if (call.cacheMark !== undefined) ledger.lose(cacheMarkPath(ledger.from, call.path))
  // Only Google's models need it back, and only servers in front of them have a place for it.
  const signed = target.compatible && facts.family === 'gemini' && call.opaque?.family === 'gemini'
  if (call.opaque !== undefined && call.opaque.form !== 'details' && !signed) ledger.lose(call.path)
  const extra = signed ? { extra_content: { google: { thought_signature: call.opaque?.value } } } : {}
  if (call.custom && !target.compatible) return { id, type: 'custom', custom: { name, input: call.arguments } }
  const text = call.custom ? wrapCustomInput(call.arguments) : argumentsObject(call, ledger)
  return { id, type: 'function', function: { name, arguments: text }, ...extra }
}
