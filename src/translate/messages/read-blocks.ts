import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import { linkCarriers } from '../carried-reasoning.ts'
import type { ReadContext } from '../codec.ts'
import type { CacheMark, MediaPart, MediaSource, Opaque, Part, ResultPart, TextPart } from '../conversation.ts'
import { checkType } from '../member-types.ts'
import { RequestError } from '../request-fault.ts'

/** A message's content, which may be a plain string. */
export function readBlocks(content: unknown, path: string, context: ReadContext): Part[] {
  if (typeof content === 'string') return [{ kind: 'text', path, text: content }]
  if (!Array.isArray(content)) throw new RequestError(path, 'is neither text nor a list')
  const blocks = content.map((value, index) => {
    const block = asObject(value)
    if (block === null) throw new RequestError(`${path}[${index}]`, 'is not an object')
    return block
  })
  /** One for each part, since a document may become several. */
  const types: unknown[] = []
  const parts = blocks.flatMap((block, index) => {
    const read = readBlock(block, `${path}[${index}]`, context)
    for (const _ of read) types.push(block.type)
    return read
  })
  return [...linkCarriers(parts, (index) => types[index] === 'redacted_thinking')]
}

/** Only texts, as in system prompts. */
export function readTexts(content: unknown, path: string, skips?: (block: unknown) => boolean): TextPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', path, text: content }]
  return asArray(content).flatMap((value, index) => {
    if (skips?.(value) === true) return []
    const [block, inside] = [asObject(value) ?? {}, `${path}[${index}]`]
    if (block.type !== 'text') throw new RequestError(`${inside}.type`, 'is not `text`')
    return readText(block, inside)
  })
}

const hostedBlock =
  /^(?:server_tool_use|mcp_tool_use|\w+_tool_result|mcp_tool_listing|container_upload|compaction|fallback)$/

/** Blocks of tools that Anthropic runs: no other provider can read them. */
export function isHosted({ type }: JsonObject): boolean {
  return typeof type === 'string' && hostedBlock.test(type)
}

function readBlock(block: JsonObject, path: string, context: ReadContext): Part[] {
  switch (block.type) {
    case 'text':
      return [readText(block, path)]
    case 'thinking':
      return [readThinking(block, path, context)]
    case 'redacted_thinking':
      return [{ kind: 'reasoning', path, text: '', opaque: openCarrier(asString(block.data), 'redacted', context) }]
    case 'tool_use':
      return [readCall(block, path)]
    case 'tool_result':
      return [readResult(block, path)]
    case 'search_result':
      return [readSearchResult(block, path)]
    case 'image':
    case 'document':
      return readMedia(block, path)
    default:
      if (isHosted(block)) {
        const server = { kind: 'server', path, family: 'anthropic', type: asString(block.type) } as const
        // A compaction replaces the messages before it, and its text summarises them.
        return block.type === 'compaction' && asString(block.content) !== ''
          ? [{ kind: 'text', path: `${path}.content`, text: asString(block.content) }, server]
          : [server]
      }
      throw new RequestError(`${path}.type`, 'is not a known type of content')
  }
}

function start(block: JsonObject, path: string): { path: string; cacheMark?: CacheMark } {
  const cacheMark = readMark(block.cache_control)
  return cacheMark === null ? { path } : { path, cacheMark }
}

function readText(block: JsonObject, path: string): TextPart {
  return { kind: 'text', ...start(block, path), text: asString(block.text) }
}

function readThinking(block: JsonObject, path: string, context: ReadContext): Part {
  const signature = asString(block.signature)
  const part = { kind: 'reasoning' as const, path, text: asString(block.thinking) }
  return signature === '' ? part : { ...part, opaque: openCarrier(signature, 'signature', context) }
}

/** A seal of the gateway contains another provider's reasoning; anything else is Anthropic's own. */
function openCarrier(value: string, form: 'signature' | 'redacted', { carriers }: ReadContext): Opaque {
  return carriers.open(value) ?? { family: 'anthropic', form, value }
}

function readCall(block: JsonObject, path: string): Part {
  const [id, name] = [asText(block.id), asText(block.name)]
  if (id === null) throw new RequestError(`${path}.id`, 'is missing')
  if (name === null) throw new RequestError(`${path}.name`, 'is missing')
  if (asObject(block.input) === null) throw new RequestError(`${path}.input`, 'is not an object')
  return { kind: 'call', ...start(block, path), id, name, arguments: JSON.stringify(block.input), custom: false }
}

function readResult(block: JsonObject, path: string): ResultPart {
  const callId = asText(block.tool_use_id)
  if (callId === null) throw new RequestError(`${path}.tool_use_id`, 'is missing')
  return {
    kind: 'result',
    ...start(block, path),
    callId,
    name: null,
    parts: readResultParts(block.content, `${path}.content`),
    failed: block.is_error === true,
  }
}

function readResultParts(content: unknown, path: string): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return [{ kind: 'text', path, text: content }]
  return asArray(content).flatMap((value, index): (TextPart | MediaPart)[] => {
    const block = asObject(value) ?? {}
    const inside = `${path}[${index}]`
    if (block.type === 'text') return [readText(block, inside)]
    if (block.type === 'image' || block.type === 'document') return readMedia(block, inside)
    if (block.type === 'search_result') return [readSearchResult(block, inside)]
    // What a client's search for tools has found: all of them are declared at other providers.
    const tool = block.type === 'tool_reference' ? asText(block.tool_name) : null
    if (tool !== null) return [{ ...start(block, inside), kind: 'text', text: `Loaded tool: ${tool}` }]
    // The table lists the members of blocks that only Anthropic's tools have.
    return []
  })
}

/** The source comes first, then what was found. */
function readSearchResult(block: JsonObject, path: string): TextPart {
  for (const [member, type] of [
    ['source', 't'],
    ['title', 't'],
    ['content', 'O'],
  ] as const)
    checkType(block[member], type, () => `${path}.${member}`)
  const found = asArray(block.content).map((value) => asObject(value) ?? {})
  const head = `${asString(block.title)} (${asString(block.source)})`
  const text = [head, ...found.map((one) => asString(one.text))].join('\n\n')
  const marked = markedOf(block, found)
  return { ...start(marked, marked === block ? path : `${path}.content[${found.indexOf(marked)}]`), kind: 'text', text }
}

/** A mark inside a block counts as one on the block. */
function markedOf(block: JsonObject, inside: readonly JsonObject[]): JsonObject {
  return [block, ...inside].find((one) => readMark(one.cache_control) !== null) ?? block
}

function readMedia(block: JsonObject, path: string): (MediaPart | TextPart)[] {
  const source = asObject(block.source)
  const title = asText(block.title)
  if (source?.type === 'content') return readContentSource(block, source.content, path)
  const kind = block.type === 'image' ? 'image' : 'file'
  return [{ kind, ...start(block, path), source: readSource(source, path), ...(title === null ? {} : { name: title }) }]
}

/** A document of blocks becomes its texts and images. */
function readContentSource(block: JsonObject, content: unknown, path: string): (MediaPart | TextPart)[] {
  const parts: (MediaPart | TextPart)[] = []
  const blocks = asArray(content).map((value) => asObject(value) ?? {})
  let texts = [asString(block.title)]
  const flush = () => {
    const text = texts.filter((one) => one !== '').join('\n\n')
    if (text !== '') parts.push({ kind: 'text', path, text })
    texts = []
  }
  if (typeof content === 'string') texts.push(content)
  for (const [index, inner] of blocks.entries()) {
    const inside = `${path}.source.content[${index}]`
    if (inner.type === 'image') {
      flush()
      parts.push(...readMedia(inner, inside))
    } else if (inner.type === 'text') texts.push(asString(inner.text))
    else throw new RequestError(`${inside}.type`, 'is neither `text` nor `image`')
  }
  flush()
  const last = parts.pop()
  return last === undefined ? [] : [...parts, { ...last, ...start(markedOf(block, blocks), last.path) }]
}

function readSource(source: JsonObject | null, path: string): MediaSource {
  switch (source?.type) {
    case 'base64':
      return { kind: 'data', type: asString(source.media_type), data: asString(source.data) }
    case 'text':
      return { kind: 'text', type: asText(source.media_type) ?? 'text/plain', data: asString(source.data) }
    case 'url':
      return { kind: 'url', type: '', url: asString(source.url) }
    case 'file':
      return { kind: 'id', id: asString(source.file_id) }
    default:
      throw new RequestError(`${path}.source.type`, 'is not a known type')
  }
}

export function readMark(value: unknown): CacheMark | null {
  const control = asObject(value)
  if (control === null) return null
  return control.ttl === '1h' ? '1h' : '5m'
}
