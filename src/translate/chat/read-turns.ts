import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ReadContext } from '../codec.ts'
import type {
  CacheMark,
  CallPart,
  ConversationTurn,
  MediaPart,
  Opaque,
  Part,
  ReasoningPart,
  ResultPart,
  TextPart,
} from '../conversation.ts'
import { plainTurn } from '../conversation.ts'
import { readDataUrl } from '../data-url.ts'
import { typeForName } from '../file-name.ts'
import { PlainTurns } from '../plain-turns.ts'
import { RequestError } from '../request-fault.ts'
import { readCarried, readCarriedCall } from './carriers.ts'
import { readContent as readMixed } from './read-reply.ts'

export function readTurns(messages: unknown, context: ReadContext): ConversationTurn[] {
  if (!Array.isArray(messages)) throw new RequestError('messages', 'is not a list')
  return messages.flatMap((value, index) => {
    const path = `messages[${index}]`
    if (value instanceof PlainTurns) return plainTurn(value, path)
    const message = asObject(value)
    if (message === null) throw new RequestError(path, 'is not an object')
    return markLast(readTurn(message, path, context), readCacheControl(message.cache_control))
  })
}

/** Some clients put Anthropic's mark on the message: it covers everything up to the message's end. */
function markLast(turn: ConversationTurn, mark: CacheMark | null): ConversationTurn {
  const last = turn.parts.at(-1)
  if (mark === null || last === undefined) return turn
  return { ...turn, parts: [...turn.parts.slice(0, -1), { cacheMark: mark, ...last }] }
}

function readTurn(message: JsonObject, path: string, context: ReadContext): ConversationTurn {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: readContent(message, path), path }
    case 'user':
      return { role: 'user', parts: readContent(message, path), path }
    case 'assistant':
      return { role: 'assistant', parts: readAssistant(message, path, context), path }
    case 'tool':
      return {
        role: 'tool',
        parts: [readResult(message, path, requireText(message, 'tool_call_id', path), null)],
        path,
      }
    case 'function':
      return { role: 'tool', parts: [readResult(message, path, null, requireText(message, 'name', path))], path }
    default:
      throw new RequestError(`${path}.role`, 'is not a known role')
  }
}

function requireText(message: JsonObject, member: string, path: string): string {
  const text = asText(message[member])
  if (text === null) throw new RequestError(`${path}.${member}`, 'is missing')
  return text
}

function readResult(message: JsonObject, path: string, callId: string | null, name: string | null): ResultPart {
  const parts = readContent(message, path).filter((part): part is TextPart | MediaPart => part.kind !== 'refusal')
  return { kind: 'result', path, callId, name, parts, failed: false }
}

type ContentPart = TextPart | MediaPart | { kind: 'refusal'; path: string; text: string }

function readContent({ content, role }: JsonObject, path: string): ContentPart[] {
  if (typeof content === 'string') return [{ kind: 'text', path: `${path}.content`, text: content }]
  if (content === null || content === undefined) return []
  if (!Array.isArray(content)) throw new RequestError(`${path}.content`, 'is neither text nor a list')
  return content.flatMap((value, index) => {
    const part = asObject(value)
    // Mistral's reasoning, beside the text: `readAssistant` reads it.
    return part?.type === 'thinking' && role === 'assistant' ? [] : [readPart(part, `${path}.content[${index}]`)]
  })
}

function readPart(part: JsonObject | null, path: string): ContentPart {
  const cacheMark = readBreakpoint(part?.prompt_cache_breakpoint) ?? readCacheControl(part?.cache_control)
  const base = cacheMark === null ? { path } : { path, cacheMark }
  switch (part?.type) {
    case 'text':
      return { kind: 'text', ...base, text: asString(part.text) }
    case 'refusal':
      return { kind: 'refusal', path, text: asString(part.refusal) }
    case 'image_url':
      return readImage(part, base)
    case 'input_audio': {
      const { data, format } = asObject(part.input_audio) ?? {}
      const type = format === 'mp3' ? 'audio/mpeg' : `audio/${asString(format)}`
      return { kind: 'audio', ...base, source: { kind: 'data', type, data: asString(data) } }
    }
    case 'file':
      return readFile(asObject(part.file), base)
    case 'video_url':
    case 'audio_url':
    case 'document_url':
      return readAddressed(part, part.type, base)
    default:
      throw new RequestError(`${path}.type`, 'is not a known type of content')
  }
}

type PartStart = Pick<MediaPart, 'path' | 'cacheMark'>

function readImage({ image_url }: JsonObject, base: PartStart): MediaPart {
  // Some clients put the URL itself where the object belongs.
  const url = typeof image_url === 'string' ? image_url : asText(asObject(image_url)?.url)
  if (url === null) throw new RequestError(`${base.path}.image_url.url`, 'is missing')
  const source = readDataUrl(url)
  if (source.kind === 'url' && !/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
    throw new RequestError(`${base.path}.image_url.url`, 'is neither an address nor a data URL')
  }
  const detail = asText(asObject(image_url)?.detail)
  return { kind: 'image', ...base, source, ...(detail === null ? {} : { detail }) }
}

/** The form of vLLM, OpenRouter and Mistral: a URL, or a data URL. */
function readAddressed(part: JsonObject, type: 'video_url' | 'audio_url' | 'document_url', base: PartStart): MediaPart {
  const url = asText(part[type]) ?? asText(asObject(part[type])?.url)
  if (url === null) throw new RequestError(`${base.path}.${type}`, 'is missing')
  const kind = type === 'video_url' ? 'video' : type === 'audio_url' ? 'audio' : 'file'
  const name = asText(part.document_name)
  return { kind, ...base, source: readDataUrl(url), ...(name === null ? {} : { name }) }
}

function readFile(file: JsonObject | null, base: PartStart): MediaPart {
  const name = asText(file?.filename)
  const named = { kind: 'file' as const, ...base, ...(name === null ? {} : { name }) }
  const id = asText(file?.file_id)
  if (id !== null) return { ...named, source: { kind: 'id', id } }
  const data = asText(file?.file_data)
  if (data === null) throw new RequestError(`${base.path}.file`, 'has neither file_data nor file_id')
  return { ...named, source: readDataUrl(data, typeForName(name)) }
}

const besideContent = [
  'extra_content',
  'reasoning_content',
  'reasoning',
  'refusal',
  'tool_calls',
  'function_call',
] as const

/** Reasoning first, as in every provider's answers, then the text, then the calls. */
function readAssistant(message: JsonObject, path: string, { carriers }: ReadContext): readonly Part[] {
  const content = readContent(message, path)
  const thoughts = asArray(message.content).findIndex((part) => asObject(part)?.type === 'thinking')
  const thought = thoughts < 0 ? '' : readMixed(message.content).reasoning
  if (thought === '' && !besideContent.some((name) => message[name] !== undefined && message[name] !== null))
    return content
  const carried = readCarried(message.extra_content, `${path}.extra_content`, carriers)
  // OpenRouter and Groq call it `reasoning`.
  const name = asText(message.reasoning_content) === null ? 'reasoning' : 'reasoning_content'
  const [text, from] = thought === '' ? [asText(message[name]), name] : [thought, `content[${thoughts}].thinking`]
  const loose: ReasoningPart[] =
    carried.length > 0 || text === null ? [] : [{ kind: 'reasoning', path: `${path}.${from}`, text }]
  const refusal = asText(message.refusal)
  return [
    ...carried,
    ...loose,
    ...content,
    ...(refusal === null ? [] : [{ kind: 'refusal' as const, path: `${path}.refusal`, text: refusal }]),
    ...asArray(message.tool_calls).map((call, index) =>
      readCall(asObject(call), `${path}.tool_calls[${index}]`, (extra) => readCarriedCall(extra, carriers)),
    ),
    ...readFunctionCall(asObject(message.function_call), `${path}.function_call`),
  ]
}

function readCall(call: JsonObject | null, path: string, carried: (extra: unknown) => Opaque | null): CallPart {
  const custom = call?.type === 'custom'
  const inside = asObject(custom ? call?.custom : call?.function)
  const [id, name] = [asText(call?.id), asText(inside?.name)]
  if (id === null) throw new RequestError(`${path}.id`, 'is missing')
  if (name === null) throw new RequestError(path, 'names no tool')
  const opaque = carried(call?.extra_content)
  const cacheMark = readCacheControl(call?.cache_control)
  return {
    kind: 'call',
    path,
    ...(cacheMark !== null && { cacheMark }),
    id,
    name,
    arguments: custom ? asString(inside?.input) : readArguments(inside?.arguments),
    custom,
    ...(opaque === null ? {} : { opaque }),
  }
}

/** Mistral's and Ollama's clients may send the object itself. */
function readArguments(value: unknown): string {
  return asObject(value) === null ? asString(value) : JSON.stringify(value)
}

function readFunctionCall(call: JsonObject | null, path: string): CallPart[] {
  const name = asText(call?.name)
  return name === null
    ? []
    : [{ kind: 'call', path, id: null, name, arguments: asString(call?.arguments), custom: false }]
}

function readBreakpoint(value: unknown): CacheMark | null {
  const breakpoint = asObject(value)
  if (breakpoint === null) return null
  return breakpoint.ttl === '12h' ? '12h' : '30m'
}

/** Anthropic's member, which clients also use in OpenAI's format. */
export function readCacheControl(value: unknown): CacheMark | null {
  const control = asObject(value)
  if (control === null) return null
  return control.ttl === '1h' ? '1h' : '5m'
}
