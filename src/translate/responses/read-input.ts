import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import { linkCarriers, unpackReasoning } from '../carried-reasoning.ts'
import type { ReadContext } from '../codec.ts'
import type {
  CallPart,
  ConversationTurn,
  MediaPart,
  Opaque,
  Part,
  ReasoningPart,
  ResultPart,
  TextPart,
} from '../conversation.ts'
import { checkType } from '../member-types.ts'
import { PlainTurns } from '../plain-turns.ts'
import { RequestError } from '../request-fault.ts'
import { nameWithin } from './namespaces.ts'
import { readContent, readOutputParts, type SkipObject } from './read-content.ts'
import { describeFound, runsAtClient, toolSearch } from './read-tools.ts'

const roles: Readonly<Record<string, ConversationTurn['role']>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
}

/** Calls of hosted tools: their text is in the messages, and the client does not answer them. */
const hostedCalls = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'mcp_list_tools',
  'mcp_call',
])

/** What one item becomes: parts of a turn. Null: nothing. */
interface ReadItem {
  role: ConversationTurn['role']
  parts: Part[]
}

/** Consecutive items of one role become one turn: an assistant's reasoning, text and calls belong together. */
export function readInput(input: unknown, context: ReadContext, skip: SkipObject): ConversationTurn[] {
  if (typeof input === 'string')
    return [{ role: 'user', parts: [{ kind: 'text', text: input, path: 'input' }], path: 'input' }]
  const turns: { role: ConversationTurn['role']; parts: Part[]; path: string; plain?: PlainTurns }[] = []
  const last: { role: ConversationTurn['role'] | null; parts: Part[] } = { role: null, parts: [] }
  // `forEach` skips holes.
  asArray(input).forEach((value, index) => {
    const path = `input[${index}]`
    if (value instanceof PlainTurns) {
      turns.push({ role: 'assistant', parts: [], path, plain: value })
      last.role = null
      return
    }
    const item = asObject(value)
    if (item === null) throw new RequestError(path, 'is not an object')
    const read = readItem(item, path, context, skip)
    if (read === null) return
    // Messages of users and systems stay separate, as the client sent them.
    const joins = read.role === last.role && (read.role === 'assistant' || read.role === 'tool')
    // One by one: a list that is spread must fit on the stack.
    if (joins) for (const part of read.parts) last.parts.push(part)
    else {
      last.role = read.role
      last.parts = read.parts
      turns.push({ role: read.role, parts: last.parts, path })
    }
  })
  return turns.map((turn) => ({ ...turn, parts: linkCarriers(turn.parts) }))
}

function readItem(item: JsonObject, path: string, context: ReadContext, skip: SkipObject): ReadItem | null {
  const type = asText(item.type) ?? (item.role === undefined ? 'item_reference' : 'message')
  switch (type) {
    case 'message': {
      const role = ownValue(roles, asString(item.role))
      if (role === undefined) throw new RequestError(`${path}.role`, 'is not a known role')
      return { role, parts: readContent(item.content, `${path}.content`, skip) }
    }
    case 'function_call':
    case 'custom_tool_call':
      return readCall(item, type === 'custom_tool_call', path)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'tool', parts: [readResult(item, type === 'custom_tool_call_output', path, skip)] }
    case 'tool_search_call':
    case 'tool_search_output':
      if (runsAtClient(item)) return readToolSearch(item, type, path)
      skip(item, `input:${type}`, `${path}.type`)
      return null
    case 'reasoning':
      return { role: 'assistant', parts: [readReasoningItem(item, path, context)] }
    case 'additional_tools':
      // Read together with the tools.
      return null
    case 'image_generation_call': {
      const data = asText(item.result)
      skip(item, data === null ? 'input:hosted_call' : 'input:image_generation_call', path)
      if (data === null) return null
      const image: MediaPart = { kind: 'image', path, source: { kind: 'data', type: 'image/png', data }, made: true }
      return { role: 'assistant', parts: [image] }
    }
    default:
      if (hostedCalls.has(type)) {
        skip(item, 'input:hosted_call', path)
        return null
      }
      skip(item, `input:${type}`, `${path}.type`)
      return null
  }
}

function readCall(item: JsonObject, custom: boolean, path: string): ReadItem {
  // A search for tools has an object here.
  checkType(item.arguments, 't', () => `${path}.arguments`)
  const name = requireText(item, 'name', path)
  const namespace = asText(item.namespace)
  const call: CallPart = {
    kind: 'call',
    path,
    id: requireText(item, 'call_id', path),
    name: namespace === null ? name : nameWithin(namespace, name),
    arguments: asString(custom ? item.input : item.arguments),
    custom,
  }
  return { role: 'assistant', parts: [call] }
}

function readToolSearch(item: JsonObject, type: string, path: string): ReadItem {
  const id = requireText(item, 'call_id', path)
  if (type === 'tool_search_call') {
    const text = JSON.stringify(item.arguments ?? {})
    return { role: 'assistant', parts: [{ kind: 'call', path, id, name: toolSearch, arguments: text, custom: false }] }
  }
  const found: TextPart = { kind: 'text', path: `${path}.tools`, text: describeFound(item.tools) }
  return {
    role: 'tool',
    parts: [{ kind: 'result', path, callId: id, name: toolSearch, parts: [found], failed: false }],
  }
}

function requireText(item: JsonObject, member: string, path: string): string {
  const text = asText(item[member])
  if (text === null) throw new RequestError(`${path}.${member}`, 'is missing')
  return text
}

function readResult(item: JsonObject, custom: boolean, path: string, skip: SkipObject): ResultPart {
  return {
    kind: 'result',
    path,
    callId: asText(item.call_id),
    name: asText(item.name),
    parts: readOutputParts(item.output, `${path}.output`, skip),
    failed: false,
    ...(custom && { custom: true }),
  }
}

function readReasoningItem(item: JsonObject, path: string, context: ReadContext): ReasoningPart {
  const texts = [...asArray(item.summary), ...asArray(item.content)].map((part) => asString(asObject(part)?.text))
  const text = texts.join('\n\n')
  const encrypted = asText(item.encrypted_content)
  if (encrypted === null) return { kind: 'reasoning', path, text }
  const carried = context.carriers.open(encrypted)
  if (carried !== null) {
    const unpacked = unpackReasoning(carried)
    return { kind: 'reasoning', path, text: unpacked.text ?? text, opaque: unpacked.opaque }
  }
  const id = asText(item.id)
  const opaque: Opaque = { family: 'openai', form: 'encrypted', value: encrypted, ...(id !== null && { id }) }
  return { kind: 'reasoning', path, text, opaque }
}

const calls = new Set(['function_call', 'custom_tool_call', 'tool_search_call'])

/** The paths of the phases of comments on the way that a call follows in the same turn: their place says so, too. */
export function commentsBeforeCalls(input: unknown): ReadonlySet<string> {
  const items = asArray(input)
  const paths = new Set<string>()
  let isBeforeCall = false
  for (let at = items.length - 1; at >= 0; at--) {
    const item = asObject(items[at])
    if (isBeforeCall && item?.phase === 'commentary') paths.add(`input[${at}].phase`)
    if (!isComment(items[at])) isBeforeCall = calls.has(asString(item?.type))
  }
  return paths
}

/** What stands between a comment and its call. */
function isComment(value: unknown): boolean {
  const item = asObject(value)
  return item?.type === 'reasoning' || (item?.role === 'assistant' && !(value instanceof PlainTurns))
}
