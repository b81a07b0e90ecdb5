import { isObject, type JsonObject, type MockUsage } from '../../mock-format.ts'
import {
  base64At,
  check,
  closedSchema,
  listAt,
  objectAt,
  only,
  pdfMagic,
  pngMagic,
  refuse,
  textAt,
} from '../refused.ts'
import type { Piece, Reply, Scene, SceneTurn } from '../scene.ts'
import type { SceneProvider } from './provider.ts'

const seal = 'c2VhbC1vZi1hbnRocm9waWM='
const members =
  'model messages max_tokens system tools tool_choice thinking output_config temperature top_p top_k stop_sequences stream metadata'

/** What Anthropic takes, refuses and answers. */
export const messagesProvider: SceneProvider = { seal, read, whole, events }

function read(body: JsonObject): Scene {
  only(body, members)
  check(Number.isInteger(body.max_tokens) && Number(body.max_tokens) > 0, 'max_tokens: Field required')
  const leading = body.system === undefined ? [] : [readTurn('system', body.system, 'system')]
  const messages = listAt(body.messages, 'messages').map((message, index) => objectAt(message, `messages.${index}`))
  for (const [index, message] of messages.entries()) checkResults(message, messages[index - 1], index)
  const calls = messages.flatMap(({ content }) => blocksOf(content).filter(({ type }) => type === 'tool_use'))
  check(new Set(calls.map(({ id }) => id)).size === calls.length, 'messages: `tool_use` ids must be unique')
  const turns = messages.map((message, index) => {
    only(message, 'role content', `messages.${index}.`)
    check(['user', 'assistant', 'system'].includes(String(message.role)), `messages.${index}.role: unexpected`)
    check(message.role !== 'system' || /4-8|5-5/.test(String(body.model)), 'role system is not supported on this model')
    return readTurn(message.role as SceneTurn['role'], message.content, `messages.${index}.content`)
  })
  check(turns[0]?.role === 'user', 'messages: first message must use the "user" role')
  check(turns.at(-1)?.role !== 'assistant', 'This model does not support assistant message prefill.')
  const marks = JSON.stringify(body).match(/"cache_control"/g) ?? []
  check(marks.length <= 4, 'A maximum of 4 blocks with cache_control may be provided')
  const scene: Scene = { turns: [...leading, ...turns] }
  return {
    ...scene,
    ...readTools(body),
    ...readThinking(body),
    ...readSampling(body),
    maxOutput: Number(body.max_tokens),
  }
}

/** All results of the turn before, at the beginning, each of a call there. */
function checkResults(message: JsonObject, before: JsonObject | undefined, index: number): void {
  const idsOf = (of: JsonObject | undefined, type: string, name: string) =>
    blocksOf(of?.content).flatMap((block) => (block.type === type ? [String(block[name])] : []))
  const calls = before?.role === 'assistant' ? idsOf(before, 'tool_use', 'id') : []
  const blocks = blocksOf(message.content)
  const results = idsOf(message, 'tool_result', 'tool_use_id')
  const stray = results.find((id) => !calls.includes(id))
  check(stray === undefined, `messages.${index}: unexpected tool_use_id found in tool_result blocks: ${stray}`)
  const missing = calls.find((id) => !results.includes(id))
  check(missing === undefined, `messages.${index}: tool_use ids were found without tool_result blocks: ${missing}`)
  check(new Set(results).size === results.length, `messages.${index}: each tool_use must have a single result`)
  const first = blocks.slice(0, results.length)
  check(
    first.every(({ type }) => type === 'tool_result'),
    `messages.${index}: tool_result blocks must come first`,
  )
}

function blocksOf(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

function readTurn(role: SceneTurn['role'], content: unknown, path: string): SceneTurn {
  if (typeof content === 'string') {
    check(content.trim() !== '', `${path}: text content blocks must be non-empty`)
    return { role, pieces: [{ kind: 'text', text: content }] }
  }
  const blocks = listAt(content, path)
  check(blocks.length > 0, `${path}: must not be empty`)
  return { role, pieces: blocks.map((block, index) => readBlock(objectAt(block, path), `${path}.${index}.`)) }
}

function readBlock(block: JsonObject, path: string): Piece {
  switch (block.type) {
    case 'text': {
      only(block, 'type text cache_control citations', path)
      const text = textAt(block.text, `${path}text`)
      check(text.trim() !== '', `${path}: text content blocks must contain non-whitespace text`)
      if (block.cache_control === undefined) return { kind: 'text', text }
      const mark = only(objectAt(block.cache_control, path), 'type ttl', path)
      check(mark.type === 'ephemeral' && ['5m', '1h', undefined].includes(mark.ttl as string), `${path}cache_control`)
      return { kind: 'text', text, mark: true }
    }
    case 'image': {
      const source = objectAt(only(block, 'type source', path).source, `${path}source`)
      if (source.type === 'url') return { kind: 'image-url', url: textAt(only(source, 'type url', path).url, path) }
      check(only(source, 'type media_type data', path).media_type === 'image/png', `${path}media_type`)
      return { kind: 'image', data: base64At(source.data, pngMagic, path) }
    }
    case 'document': {
      const source = objectAt(only(block, 'type source title', path).source, `${path}source`)
      check(only(source, 'type media_type data', path).media_type === 'application/pdf', `${path}media_type`)
      return { kind: 'file', data: base64At(source.data, pdfMagic, path), name: String(block.title ?? '') }
    }
    case 'thinking':
      only(block, 'type thinking signature', path)
      check(block.signature === seal, `${path}signature: Invalid \`signature\` in \`thinking\` block`)
      return { kind: 'thought', text: textAt(block.thinking, path), seal }
    case 'tool_use':
      only(block, 'type id name input caller cache_control', path)
      check(/^[a-zA-Z0-9_-]+$/.test(textAt(block.id, path)), `${path}id: String should match '^[a-zA-Z0-9_-]+$'`)
      return { kind: 'call', name: textAt(block.name, path), input: objectAt(block.input, `${path}input`) }
    case 'tool_result':
      return readResult(block, path)
    default:
      return refuse(`${path}type: ${String(block.type)} is not expected`)
  }
}

function readResult(block: JsonObject, path: string): Piece {
  only(block, 'type tool_use_id content is_error cache_control', path)
  const { content = [] } = block
  const pieces =
    typeof content === 'string' ? [] : listAt(content, path).map((one) => readBlock(objectAt(one, path), path))
  const image = pieces.find((piece) => piece.kind === 'image')
  const text =
    typeof content === 'string' ? content : pieces.map((piece) => ('text' in piece ? piece.text : '')).join('')
  const result: Piece = { kind: 'result', text, failed: block.is_error === true }
  return image === undefined ? result : { ...result, image: image.data }
}

/** They cannot be forced to call a tool; `always`: nor to think not. */
const newest = /claude-(?:opus|sonnet)-5-5|claude-fable-5-1/
const always = /claude-opus-5-5|claude-fable/

function readTools({ model, tools, tool_choice: choice, messages, thinking }: JsonObject): Partial<Scene> {
  if (tools === undefined) {
    check(
      !/"tool_(?:use|result)"/.test(JSON.stringify(messages)),
      'Requests which include `tool_use` must define tools',
    )
    check(choice === undefined, 'tool_choice may only be specified while providing tools')
    return {}
  }
  const read = listAt(tools, 'tools').map((tool) => {
    const {
      name,
      description = '',
      input_schema,
    } = only(objectAt(tool, 'tools'), 'name description input_schema strict')
    const schema = objectAt(input_schema, 'tools.input_schema')
    check(schema.type === 'object', 'tools.input_schema.type: Input should be `object`')
    return { name: textAt(name, 'tools.name'), description: String(description), schema }
  })
  if (choice === undefined) return { tools: read }
  const {
    type,
    name,
    disable_parallel_tool_use: single,
  } = only(objectAt(choice, 'tool_choice'), 'type name disable_parallel_tool_use')
  const forced = type === 'any' || type === 'tool'
  const manual = isObject(thinking) && thinking.type === 'enabled'
  check(!(forced && manual), 'Thinking may not be enabled when tool_choice forces tool use.')
  const isFree = newest.test(String(model))
  check(!(forced && isFree), `tool_choice.type: "${String(type)}" is not supported for this model.`)
  const said: Scene['choice'] = type === 'tool' ? { name: String(name) } : (type as 'auto' | 'none' | 'any')
  return { tools: read, choice: said, ...(single === true && { parallel: false }) }
}

function readThinking({ model, thinking, output_config: config }: JsonObject): Partial<Scene> {
  if (thinking !== undefined) {
    const off = always.test(String(model)) ? [] : [newest.test(String(model)) ? 'between_tools' : 'disabled']
    const type = String(objectAt(thinking, 'thinking').type)
    check(['adaptive', ...off].includes(type), `"thinking.type.${type}" is not supported for this model.`)
    if (type !== 'adaptive') return { effort: 'none' }
  }
  if (config === undefined) return {}
  const { effort, format } = only(objectAt(config, 'output_config'), 'effort format', 'output_config.')
  const scene: Partial<Scene> = effort === undefined ? {} : { effort: String(effort) }
  if (format === undefined) return scene
  const { type, schema } = only(objectAt(format, 'output_config.format'), 'type schema', 'output_config.format.')
  check(type === 'json_schema', 'output_config.format.type')
  closedSchema(schema, 'output_config.format.schema')
  return { ...scene, schema: schema as JsonObject }
}

function readSampling({
  model,
  temperature,
  top_p: topP,
  top_k: topK,
  stop_sequences: stop,
}: JsonObject): Partial<Scene> {
  const sampled = [temperature, topP, topK].some((value) => value !== undefined)
  check(!sampled || String(model).includes('4-5'), 'temperature, top_p, top_k: not supported on this model')
  check(temperature === undefined || topP === undefined, '`temperature` and `top_p` cannot both be specified')
  check(temperature === undefined || Number(temperature) <= 1, 'temperature: range: 0..1')
  return {
    ...(temperature !== undefined && { temperature: Number(temperature) }),
    ...(topP !== undefined && { topP: Number(topP) }),
    ...(topK !== undefined && { topK: Number(topK) }),
    ...(stop !== undefined && { stop: listAt(stop, 'stop_sequences').map(String) }),
  }
}

const stops = { end: 'end_turn', length: 'max_tokens', calls: 'tool_use', filtered: 'refusal' } as const

function blockOf(piece: Piece, index: number): JsonObject {
  if (piece.kind === 'text') return { type: 'text', text: piece.text, citations: null }
  if (piece.kind === 'thought') return { type: 'thinking', thinking: piece.text, signature: seal }
  if (piece.kind === 'call')
    return {
      type: 'tool_use',
      id: `toolu_scene${index}`,
      name: piece.name,
      input: piece.input,
      caller: { type: 'direct' },
    }
  throw new Error(`no answer has a ${piece.kind}`)
}

function usageOf(usage: MockUsage): JsonObject {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  }
}

function whole({ pieces, finish }: Reply, { model }: JsonObject, usage: MockUsage): JsonObject {
  const stop = { stop_reason: stops[finish], stop_sequence: null, stop_details: null }
  const message = { id: 'msg_scene', type: 'message', role: 'assistant', model, content: pieces.map(blockOf), ...stop }
  return { ...message, usage: usageOf(usage) }
}

function events(reply: Reply, body: JsonObject, usage: MockUsage): string[] {
  const message = whole(reply, body, usage)
  const { content, stop_reason, ...rest } = message
  const begun = { ...rest, content: [], stop_reason: null, usage: { ...usageOf(usage), output_tokens: 1 } }
  const blocks = (content as JsonObject[]).flatMap((block, index) => [
    named('content_block_start', { index, content_block: shellOf(block) }),
    ...deltasOf(block).map((delta) => named('content_block_delta', { index, delta })),
    named('content_block_stop', { index }),
  ])
  return [
    named('message_start', { message: begun }),
    named('ping', {}),
    ...blocks,
    named('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: usageOf(usage) }),
    named('message_stop', {}),
  ]
}

function shellOf(block: JsonObject): JsonObject {
  if (block.type === 'text') return { ...block, text: '' }
  return block.type === 'thinking' ? { ...block, thinking: '', signature: '' } : { ...block, input: {} }
}

function deltasOf({ type, text, thinking, signature, input }: JsonObject): JsonObject[] {
  const [one, two] = halves(String(text ?? thinking ?? JSON.stringify(input)))
  if (type === 'text') return [one, two].map((part) => ({ type: 'text_delta', text: part }))
  if (type === 'tool_use') return ['', one, two].map((part) => ({ type: 'input_json_delta', partial_json: part }))
  return [
    ...[one, two].map((part) => ({ type: 'thinking_delta', thinking: part })),
    { type: 'signature_delta', signature },
  ]
}

export function halves(text: string): [string, string] {
  const middle = Math.floor(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

function named(type: string, members: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}
