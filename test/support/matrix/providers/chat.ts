import type { JsonObject, MockUsage } from '../../mock-format.ts'
import {
  check,
  dataUrlAt,
  listAt,
  objectAt,
  only,
  pdfMagic,
  pngMagic,
  refuse,
  strictSchema,
  textAt,
  toolName,
} from '../refused.ts'
import { type Piece, piecesOf, type Reply, type Scene, type SceneTurn, textOf } from '../scene.ts'
import { halves } from './messages.ts'
import type { SceneProvider } from './provider.ts'

const common =
  'model messages tools tool_choice parallel_tool_calls temperature top_p seed stop response_format reasoning_effort stream stream_options user frequency_penalty presence_penalty'
const ownMembers = `${common} max_completion_tokens safety_identifier prompt_cache_key verbosity service_tier store metadata`

/** What OpenAI takes at chat completions, and what another vendor does of it: no newer members, and texts as strings. */
export const chatProvider: SceneProvider = { seal: '', read, whole, events }

function isOpenai(body: JsonObject): boolean {
  return /^(?:gpt-\d|o\d)/.test(String(body.model))
}

function reasons(body: JsonObject): boolean {
  return /^(?:gpt-[5-9]|o\d)/.test(String(body.model))
}

/** From GPT-5.4 on, tools and reasoning are for Responses only; left out, the effort is the model's own. */
function checkNewest({ model, tools, reasoning_effort: effort }: JsonObject): void {
  const isNewest = /^gpt-(?:5\.[4-9]|[6-9])/.test(String(model))
  const asked = effort !== 'none' && tools !== undefined
  const instead = "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
  const message = `Function tools with reasoning_effort are not supported for ${String(model)} in /v1/chat/completions.`
  check(!isNewest || !asked, `${message} ${instead}`)
}

function read(body: JsonObject): Scene {
  only(body, isOpenai(body) ? ownMembers : `${common} max_tokens max_completion_tokens`)
  const messages = listAt(body.messages, 'messages').map((message, index) => objectAt(message, `messages[${index}]`))
  check(messages.length > 0, "Invalid 'messages': empty array.")
  const isStored = body.store === true || body.metadata === undefined
  check(isStored, "The 'metadata' parameter is only allowed when 'store' is enabled.")
  checkResults(messages)
  const names = isOpenai(body)
    ? ['system', 'developer', 'user', 'assistant', 'tool']
    : ['system', 'user', 'assistant', 'tool']
  const turns = messages.map((message, index): SceneTurn => {
    check(names.includes(String(message.role)), `messages[${index}].role: unexpected`)
    return readMessage(message, isOpenai(body), `messages[${index}]`)
  })
  const scene: Scene = { turns }
  checkNewest(body)
  return { ...scene, ...readTools(body), ...readSampling(body), ...readOutput(body) }
}

/** A message for each call, right behind the message that made it. */
function checkResults(messages: readonly JsonObject[]): void {
  let open: string[] = []
  for (const [index, { role, tool_call_id, tool_calls }] of messages.entries()) {
    if (role === 'tool') {
      const at = open.indexOf(String(tool_call_id))
      check(at >= 0, `messages[${index}]: 'tool' must be a response to a preceding message with 'tool_calls'.`)
      open.splice(at, 1)
      continue
    }
    check(open.length === 0, `An assistant message with 'tool_calls' must be followed by tool messages: ${open.join()}`)
    open =
      tool_calls === undefined ? [] : listAt(tool_calls, 'tool_calls').map((call) => String(objectAt(call, 'call').id))
  }
  check(open.length === 0, `An assistant message with 'tool_calls' must be followed by tool messages: ${open.join()}`)
}

function readMessage(message: JsonObject, isOwn: boolean, path: string): SceneTurn {
  const { role, content, tool_calls: calls } = message
  if (role === 'tool') {
    only(message, 'role tool_call_id content', `${path}.`)
    const texts = readContent(content, isOwn, path)
    check(
      texts.every(({ kind }) => kind === 'text'),
      `${path}: tool messages hold text only`,
    )
    return { role: 'user', pieces: [resultOf(textOf(texts))] }
  }
  if (role !== 'assistant') {
    const pieces = readContent(only(message, 'role content name', `${path}.`).content, isOwn, path)
    check(role === 'user' || pieces.every(({ kind }) => kind === 'text'), `${path}: system messages hold text only`)
    return { role: role === 'user' ? 'user' : 'system', pieces }
  }
  only(message, `role content tool_calls refusal${isOwn ? '' : ' reasoning_content'}`, `${path}.`)
  check(content != null || calls !== undefined, `${path}.content: expected a string`)
  const texts = content == null || content === '' ? [] : readContent(content, isOwn, path)
  const made = calls === undefined ? [] : listAt(calls, path).map((call) => readCall(objectAt(call, path), path))
  return { role, pieces: [...texts, ...made] }
}

/** A failure has no flag here: the words say it. */
function resultOf(text: string): Piece {
  return text.startsWith('Error: ')
    ? { kind: 'result', text: text.slice(7), failed: true }
    : { kind: 'result', text, failed: false }
}

function readCall(call: JsonObject, path: string): Piece {
  check(only(call, 'id type function', `${path}.tool_calls.`).type === 'function', `${path}.tool_calls.type`)
  check(textAt(call.id, path).length <= 64, `${path}.tool_calls.id: string too long`)
  const { name, arguments: text } = only(objectAt(call.function, path), 'name arguments', `${path}.function.`)
  return { kind: 'call', name: toolName(name, path), input: objectAt(JSON.parse(textAt(text, path)), path) }
}

function readContent(content: unknown, isOwn: boolean, path: string): Piece[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  const parts = listAt(content, `${path}.content`).map((part) => objectAt(part, path))
  check(parts.length > 0, `${path}.content: empty array`)
  const isPlain = parts.every(({ type }) => type === 'text')
  check(isOwn || !isPlain, `${path}.content: this server takes a string`)
  return parts.map((part) => readPart(part, isOwn, path))
}

function readPart(part: JsonObject, isOwn: boolean, path: string): Piece {
  if (part.type === 'text') {
    only(part, isOwn ? 'type text prompt_cache_breakpoint' : 'type text', `${path}.content.`)
    const text = textAt(part.text, path)
    return part.prompt_cache_breakpoint === undefined ? { kind: 'text', text } : { kind: 'text', text, mark: true }
  }
  if (part.type === 'image_url') {
    const { url } = only(objectAt(only(part, 'type image_url').image_url, path), 'url detail', `${path}.image_url.`)
    if (String(url).startsWith('https:')) return { kind: 'image-url', url: String(url) }
    return { kind: 'image', data: dataUrlAt(url, 'image/png', pngMagic, path) }
  }
  if (part.type !== 'file') return refuse(`${path}.content.type: ${String(part.type)}`)
  const { file_data, filename } = only(objectAt(part.file, path), 'file_data filename', `${path}.file.`)
  check(filename !== undefined, `Missing required parameter: '${path}.file.filename'.`)
  return { kind: 'file', data: dataUrlAt(file_data, 'application/pdf', pdfMagic, path), name: String(filename) }
}

function readTools({ tools, tool_choice: choice, parallel_tool_calls: parallel }: JsonObject): Partial<Scene> {
  check(tools !== undefined || (choice === undefined && parallel === undefined), "'tool_choice' needs 'tools'.")
  if (tools === undefined) return {}
  const read = listAt(tools, 'tools').map((tool) => {
    check(only(objectAt(tool, 'tools'), 'type function', 'tools.').type === 'function', 'tools.type')
    const members = 'name description parameters strict'
    const {
      name,
      description = '',
      parameters = {},
      strict,
    } = only(objectAt(objectAt(tool, 'tools').function, 'tools'), members)
    if (strict === true) strictSchema(parameters, 'tools.function.parameters')
    return { name: toolName(name, 'tools'), description: String(description), schema: objectAt(parameters, 'tools') }
  })
  const named =
    typeof choice === 'object' ? String(objectAt(objectAt(choice, 'tool_choice').function, 'tool_choice').name) : null
  const said =
    named === null ? (choice === 'required' ? 'any' : (choice as 'auto' | 'none' | undefined)) : { name: named }
  return { tools: read, ...(said !== undefined && { choice: said }), ...(parallel === false && { parallel: false }) }
}

function readSampling(body: JsonObject): Partial<Scene> {
  const { temperature, top_p: topP, seed, stop, reasoning_effort: effort } = body
  const maxOutput = body.max_completion_tokens ?? body.max_tokens
  check(
    !reasons(body) || (temperature ?? topP ?? stop) === undefined,
    "Unsupported parameter: 'temperature', 'top_p', 'stop'",
  )
  check(effort === undefined || reasons(body) || !isOpenai(body), "Unrecognized request argument: 'reasoning_effort'")
  check(stop === undefined || listAt(stop, 'stop').length <= 4, "Invalid 'stop': array too long.")
  return {
    ...(temperature !== undefined && { temperature: Number(temperature) }),
    ...(topP !== undefined && { topP: Number(topP) }),
    ...(seed !== undefined && { seed: Number(seed) }),
    ...(stop !== undefined && { stop: listAt(stop, 'stop').map(String) }),
    ...(maxOutput !== undefined && { maxOutput: Number(maxOutput) }),
    ...(effort !== undefined && { effort: String(effort) }),
  }
}

function readOutput({ response_format: format }: JsonObject): Partial<Scene> {
  if (format === undefined) return {}
  const { json_schema } = only(objectAt(format, 'response_format'), 'type json_schema', 'response_format.')
  const { name, schema, strict } = only(objectAt(json_schema, 'json_schema'), 'name schema strict', 'json_schema.')
  toolName(name, 'response_format.json_schema.name')
  if (strict === true) strictSchema(schema, 'response_format.json_schema.schema')
  return { schema: objectAt(schema, 'response_format.json_schema.schema') }
}

const finishes = { end: 'stop', length: 'length', calls: 'tool_calls', filtered: 'content_filter' } as const

function callsOf({ pieces }: Reply): JsonObject[] {
  return piecesOf([{ pieces }], 'call').map(({ name, input }, index) => {
    return { id: `call_scene${index}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }
  })
}

function usageOf(usage: MockUsage): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  }
}

function whole(reply: Reply, body: JsonObject, usage: MockUsage): JsonObject {
  const calls = callsOf(reply)
  const thought = textOf(reply.pieces, 'thought')
  const message = {
    role: 'assistant',
    content: textOf(reply.pieces) || null,
    refusal: null,
    // Other vendors show what a model thinks.
    ...(thought !== '' && !isOpenai(body) && { reasoning_content: thought }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const choice = { index: 0, message, logprobs: null, finish_reason: finishes[reply.finish] }
  return {
    id: 'chatcmpl-scene',
    object: 'chat.completion',
    created: 1,
    model: body.model,
    choices: [choice],
    usage: usageOf(usage),
  }
}

/** The pieces of parallel calls come in turns. */
function events(reply: Reply, body: JsonObject, usage: MockUsage): string[] {
  const base = { id: 'chatcmpl-scene', object: 'chat.completion.chunk', created: 1, model: body.model }
  const chunk = (delta: JsonObject, finish: string | null = null) =>
    `data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] })}\n\n`
  const said = (name: string, text: string) => (text === '' ? [] : halves(text).map((part) => chunk({ [name]: part })))
  const calls = callsOf(reply)
  const piece = (index: number, inside: JsonObject, more: JsonObject = {}) =>
    chunk({ tool_calls: [{ index, ...more, function: inside }] })
  const written = (call: JsonObject) => halves(String(objectAt(call.function, 'call').arguments))
  const asked = objectAt(body.stream_options ?? {}, 'stream_options').include_usage === true
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(isOpenai(body) ? [] : said('reasoning_content', textOf(reply.pieces, 'thought'))),
    ...said('content', textOf(reply.pieces)),
    ...calls.map(({ id, function: inside }, index) =>
      piece(index, { name: objectAt(inside, 'call').name, arguments: '' }, { id, type: 'function' }),
    ),
    ...[0, 1].flatMap((half) => calls.map((call, index) => piece(index, { arguments: written(call)[half] }))),
    chunk({}, finishes[reply.finish]),
    ...(asked ? [`data: ${JSON.stringify({ ...base, choices: [], usage: usageOf(usage) })}\n\n`] : []),
    'data: [DONE]\n\n',
  ]
}
