import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { unpackReasoning } from '../carried-reasoning.ts'
import type { ReadContext } from '../codec.ts'
import type {
  CallPart,
  ConversationTurn,
  MediaPart,
  MediaSource,
  Opaque,
  Part,
  ReasoningPart,
  ResultPart,
  TextPart,
} from '../conversation.ts'
import { plainTurn } from '../conversation.ts'
import { standardBase64 } from '../json.ts'
import { typeOfAddress } from '../media-type.ts'
import { PlainTurns } from '../plain-turns.ts'
import { RequestError } from '../request-fault.ts'
import { readSealed } from './carriers.ts'

/** Reports a part as a whole, by the row of the table for its kind; without an object: one member of a part that is read. */
export type SkipPart = (object: JsonObject | null, field: string, path: string) => void

const roles: Readonly<Record<string, ConversationTurn['role']>> = { user: 'user', model: 'assistant', function: 'tool' }

/** Google accepts a single element in place of a list, as in its own examples. */
export function listOf(value: unknown): readonly unknown[] {
  return asObject(value) === null ? asArray(value) : [value]
}

export function readContents(contents: unknown, context: ReadContext, skip: SkipPart): ConversationTurn[] {
  if (typeof contents === 'string') throw new RequestError('contents', 'is not a list')
  const turns: ConversationTurn[] = []
  /** The parts of the last turn, where it is the model's. */
  let said: Part[] = []
  listOf(contents).forEach((value, index) => {
    const path = `contents[${index}]`
    if (value instanceof PlainTurns) {
      turns.push(plainTurn(value, path))
      return
    }
    const content = asObject(value)
    if (content === null) throw new RequestError(path, 'is not an object')
    const role = ownValue(roles, asText(content.role) ?? 'user')
    if (role === undefined) throw new RequestError(`${path}.role`, 'is neither user nor model')
    const parts = listOf(content.parts).flatMap((part, at) => {
      const object = asObject(part)
      if (object === null) throw new RequestError(`${path}.parts[${at}]`, 'is not an object')
      return readPart(object, `${path}.parts[${at}]`, context, skip)
    })
    if (role !== 'assistant') {
      turns.push({ role, parts, path })
      return
    }
    const last = turns.at(-1)
    if (last?.role !== 'assistant' || last.plain !== undefined) {
      said = []
      turns.push({ role, parts: said, path })
    }
    for (const part of parts) addSaid(part, said)
  })
  return turns
}

/**
 * Texts that follow each other are one, as are thoughts: the chats of Google's SDKs keep an answer as it came, each piece of its stream a
 * content of its own.
 */
function addSaid(part: Part, said: Part[]): void {
  const before = said.at(-1)
  const isPiece = (part.kind === 'text' || part.kind === 'reasoning') && before?.kind === part.kind
  // What another provider has signed is whole by itself.
  if (isPiece && before.opaque === undefined && (part.opaque === undefined || part.opaque.form === 'thought'))
    said[said.length - 1] = { ...part, path: before.path, text: before.text + part.text }
  else said.push(part)
}

function readPart(part: JsonObject, path: string, context: ReadContext, skip: SkipPart): Part[] {
  const { own: signature, foreign } = readSignature(part.thoughtSignature, context)
  const carried = foreign.map((opaque) => carriedReasoning(opaque, path))
  const [call, result] = [asObject(part.functionCall), asObject(part.functionResponse)]
  // Another provider's reasoning is carried by the call that it led to, which every client sends back.
  if (call !== null) return [...carried, readCall(call, path, signature)]
  if (result !== null) return [readResult(result, path, skip)]
  const media = readMedia(part, path, skip)
  if (media !== null) return [media]
  if (carried.length > 0) return carried
  if (typeof part.text === 'string') return [readText(part, part.text, path, signature)]
  // A signature may come without text.
  if (signature !== null) return [readText(part, '', path, signature)]
  const kind = Object.keys(part).find((name) => !describing.has(name))
  if (kind !== undefined) skip(part, `contents.parts:${kind}`, `${path}.${kind}`)
  else checkDescribed(part, path)
  return []
}

/** Members that only describe a part's data. */
const describing = new Set([
  'thought',
  'videoMetadata',
  'mediaResolution',
  'mediaProcessing',
  'partMetadata',
  'speechMetadata',
  'audioTranscription',
])

/** Google rejects a part without data. Dropping an empty one, which some clients send, loses nothing. */
function checkDescribed(part: JsonObject, path: string): void {
  const [name] = Object.keys(part).filter((one) => one !== 'thought')
  if (name === undefined) return
  throw new RequestError(path, `has no data for its ${name}, which belongs into the part that it describes`)
}

/**
 * What clients send for a call that was never signed, as text or in base64, since SDKs encode what they hold as bytes. Source:
 * wire/translate.md, section 7.
 */
const unsigned = new Set(
  ['skip_thought_signature_validator', 'context_engineering_is_the_way_to_go'].flatMap((text) => [
    text,
    Buffer.from(text).toString('base64'),
  ]),
)

/** Gemini's own signature, or a seal that contains what other providers signed. */
function readSignature(value: unknown, { carriers }: ReadContext): { own: Opaque | null; foreign: readonly Opaque[] } {
  const text = asText(value)
  if (text === null || unsigned.has(text)) return { own: null, foreign: [] }
  const carried = readSealed(text, carriers) ?? [{ family: 'gemini', form: 'thought', value: text } satisfies Opaque]
  const [first] = carried
  return first?.form === 'thought' ? { own: first, foreign: [] } : { own: null, foreign: carried }
}

function readText({ thought }: JsonObject, text: string, path: string, own: Opaque | null): TextPart | ReasoningPart {
  const opaque = own === null ? {} : { opaque: own }
  return thought === true ? { kind: 'reasoning', path, text, ...opaque } : { kind: 'text', path, text, ...opaque }
}

function carriedReasoning(carried: Opaque, path: string): ReasoningPart {
  const { text, opaque } = unpackReasoning(carried)
  return { kind: 'reasoning', path, text: text ?? '', opaque }
}

function readCall(call: JsonObject, path: string, opaque: Opaque | null): CallPart {
  const name = asText(call.name)
  if (name === null) throw new RequestError(`${path}.functionCall.name`, 'is missing')
  return {
    kind: 'call',
    path,
    id: asText(call.id),
    name,
    arguments: asObject(call.args) === null ? '{}' : JSON.stringify(call.args),
    custom: false,
    ...(opaque !== null && { opaque }),
  }
}

function readResult(result: JsonObject, path: string, skip: SkipPart): ResultPart {
  const name = asText(result.name)
  if (name === null) throw new RequestError(`${path}.functionResponse.name`, 'is missing')
  const at = `${path}.functionResponse.response`
  const response = asObject(result.response ?? {})
  if (response === null) throw new RequestError(at, 'is not an object')
  const media = asArray(result.parts).flatMap((value, index) => {
    const part = asObject(value)
    return part === null ? [] : (readMedia(part, `${path}.functionResponse.parts[${index}]`, skip) ?? [])
  })
  const failed = response.error !== undefined && response.output === undefined
  const text: TextPart = { kind: 'text', path: at, text: textOf(response) }
  const parts = text.text === '' && media.length > 0 ? media : [text, ...media]
  return { kind: 'result', path, callId: asText(result.id), name, parts, failed }
}

/** The one member with text; otherwise the whole object as data. */
function textOf(response: JsonObject): string {
  const names = Object.keys(response)
  const [only = ''] = names
  const value = names.length === 1 && (only === 'output' || only === 'error') ? response[only] : response
  if (typeof value === 'string') return value
  return names.length === 0 ? '' : JSON.stringify(value)
}

function readMedia(part: JsonObject, path: string, skip: SkipPart): MediaPart | null {
  const [inline, file] = [asObject(part.inlineData), asObject(part.fileData)]
  const data = inline ?? file
  if (data === null) return null
  const type =
    file === null ? asString(data.mimeType) : (typeOfAddress(asString(file.fileUri), asString(file.mimeType)) ?? '')
  const kind = kindOf(type)
  const title = asText(data.displayName)
  const name = kind === 'file' ? title : null
  if (title !== name)
    skip(null, 'contents.parts.displayName:media', `${path}.${inline === null ? 'fileData' : 'inlineData'}.displayName`)
  const detail = ownValue(details, asText(asObject(part.mediaResolution)?.level) ?? '')
  return {
    kind,
    path,
    source:
      inline !== null
        ? { kind: 'data', type, data: standardBase64(asString(inline.data)) }
        : readUri(type, asString(data.fileUri)),
    ...(name !== null && { name }),
    ...(detail !== undefined && { detail }),
  }
}

const details: Readonly<Record<string, string>> = {
  MEDIA_RESOLUTION_LOW: 'low',
  MEDIA_RESOLUTION_MEDIUM: 'auto',
  MEDIA_RESOLUTION_HIGH: 'high',
  MEDIA_RESOLUTION_ULTRA_HIGH: 'original',
}

function kindOf(type: string): MediaPart['kind'] {
  const [major] = type.split('/')
  return major === 'image' || major === 'audio' || major === 'video' ? major : 'file'
}

/** Files stored at Google have URLs too. */
function readUri(type: string, url: string): MediaSource {
  const stored = /^(?:gs:|files\/|https:\/\/generativelanguage\.googleapis\.com\/)/.test(url)
  return stored ? { kind: 'id', id: url } : { kind: 'url', type, url }
}
