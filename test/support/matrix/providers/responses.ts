import { isObject, type JsonObject, type MockUsage } from '../../mock-format.ts'
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
import { type Piece, type Reply, type Scene, type SceneTurn, textOf } from '../scene.ts'
import { halves } from './messages.ts'
import type { SceneProvider } from './provider.ts'

const seal = 'c2VhbC1vZi1vcGVuYWk='
const members =
  'model input instructions tools tool_choice parallel_tool_calls max_output_tokens temperature top_p reasoning include text store stream metadata safety_identifier prompt_cache_key service_tier'

/** What OpenAI takes at responses, refuses and answers. */
export const responsesProvider: SceneProvider = { seal, read, whole, events }

function read(body: JsonObject): Scene {
  only(body, members)
  const items =
    typeof body.input === 'string'
      ? [{ type: 'message', role: 'user', content: body.input }]
      : listAt(body.input, 'input').map((item, index) => objectAt(item, `input[${index}]`))
  checkCalls(items)
  const include = listAt(body.include ?? [], 'include')
  check(
    include.every((name) => name === 'reasoning.encrypted_content'),
    'include: not supported',
  )
  check(include.length === 0 || body.store === false, 'Encrypted content is only for store=false')
  const leading: SceneTurn[] =
    body.instructions == null
      ? []
      : [{ role: 'system', pieces: [{ kind: 'text', text: textAt(body.instructions, 'instructions') }] }]
  const turns = items.map((item, index) => readItem(item, `input[${index}]`))
  const scene: Scene = { turns: [...leading, ...turns] }
  return { ...scene, ...readTools(body), ...readSampling(body), ...readText(body.text) }
}

/** Each call has an output behind it, and reasoning the item that it led to. */
function checkCalls(items: readonly JsonObject[]): void {
  const calls = items.flatMap(({ type, call_id }) => (type === 'function_call' ? [String(call_id)] : []))
  const outputs = items.flatMap(({ type, call_id }) => (type === 'function_call_output' ? [String(call_id)] : []))
  const missing = calls.find((id) => !outputs.includes(id))
  check(missing === undefined, `No tool output found for function call ${missing}.`)
  const stray = outputs.find((id) => !calls.includes(id))
  check(stray === undefined, `No tool call found for function call output with call_id ${stray}.`)
  for (const [index, { type }] of items.entries()) {
    const next = items[index + 1]
    const follows = next?.type === 'function_call' || next?.type === 'reasoning' || next?.role === 'assistant'
    check(type !== 'reasoning' || follows, "Item of type 'reasoning' was provided without its required following item.")
  }
}

function readItem(item: JsonObject, path: string): SceneTurn {
  switch (item.type ?? 'message') {
    case 'message': {
      const { role, content } = only(item, 'type id role content status phase', `${path}.`)
      check(['system', 'developer', 'user', 'assistant'].includes(String(role)), `${path}.role`)
      const output = role === 'assistant'
      return {
        role: output ? 'assistant' : role === 'user' ? 'user' : 'system',
        pieces: readContent(content, output, path),
      }
    }
    case 'function_call': {
      const { call_id, name, arguments: text } = only(item, 'type id call_id name arguments status', `${path}.`)
      check(textAt(call_id, path).length <= 64, `${path}.call_id: string too long`)
      const input = objectAt(JSON.parse(textAt(text, path)), path)
      return { role: 'assistant', pieces: [{ kind: 'call', name: toolName(name, path), input }] }
    }
    case 'function_call_output':
      return {
        role: 'user',
        pieces: [readOutput(only(item, 'type id call_id output status', `${path}.`).output, path)],
      }
    case 'reasoning': {
      only(item, 'type id summary encrypted_content status content', `${path}.`)
      check(item.encrypted_content === seal, 'The encrypted content could not be verified.')
      listAt(item.summary, `${path}.summary`)
      return { role: 'assistant', pieces: [{ kind: 'thought', text: '', seal }] }
    }
    default:
      return refuse(`Invalid value: '${String(item.type)}' at ${path}.type`)
  }
}

function readOutput(output: unknown, path: string): Piece {
  const pieces =
    typeof output === 'string' ? [{ kind: 'text' as const, text: output }] : readContent(output, false, path)
  const text = textOf(pieces)
  const failed = text.startsWith('Error:')
  const result: Piece = { kind: 'result', text: failed ? text.slice(6).trimStart() : text, failed }
  const image = pieces.find((piece) => piece.kind === 'image')
  return image === undefined ? result : { ...result, image: image.data }
}

function readContent(content: unknown, isOutput: boolean, path: string): Piece[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  const parts = listAt(content, `${path}.content`)
  check(parts.length > 0, `${path}.content: empty array`)
  return parts.map((part): Piece => {
    const read = objectAt(part, path)
    if (isOutput) {
      check(read.type === 'output_text', `${path}.content.type: Supported values are: 'output_text' and 'refusal'.`)
      return { kind: 'text', text: textAt(only(read, 'type text annotations logprobs').text, path) }
    }
    return readPart(read, path)
  })
}

function readPart(part: JsonObject, path: string): Piece {
  switch (part.type) {
    case 'input_text': {
      const text = textAt(only(part, 'type text prompt_cache_breakpoint', `${path}.`).text, path)
      return part.prompt_cache_breakpoint === undefined ? { kind: 'text', text } : { kind: 'text', text, mark: true }
    }
    case 'input_image': {
      const { image_url: url } = only(part, 'type image_url detail', `${path}.`)
      if (String(url).startsWith('https:')) return { kind: 'image-url', url: String(url) }
      return { kind: 'image', data: dataUrlAt(url, 'image/png', pngMagic, path) }
    }
    case 'input_file': {
      const { file_data, filename } = only(part, 'type file_data filename', `${path}.`)
      check(filename !== undefined, `Missing required parameter: '${path}.filename'.`)
      return { kind: 'file', data: dataUrlAt(file_data, 'application/pdf', pdfMagic, path), name: String(filename) }
    }
    default:
      return refuse(`Invalid value: '${String(part.type)}' at ${path}.content.type`)
  }
}

function readTools({ tools, tool_choice: choice, parallel_tool_calls: parallel }: JsonObject): Partial<Scene> {
  check(tools !== undefined || choice === undefined, "Tool choice must be specified with 'tools'.")
  if (tools === undefined) return {}
  const read = listAt(tools, 'tools').map((tool) => {
    const declared = only(objectAt(tool, 'tools'), 'type name description parameters strict', 'tools.')
    check(declared.type === 'function', 'tools.type')
    // Left out, the schema is taken as a strict one, and optional members come back filled.
    check(typeof declared.strict === 'boolean', 'tools.strict: this mock wants it said')
    if (declared.strict) strictSchema(declared.parameters, 'tools.parameters')
    const schema = objectAt(declared.parameters ?? {}, 'tools.parameters')
    return { name: toolName(declared.name, 'tools'), description: String(declared.description ?? ''), schema }
  })
  const named = isObject(choice) ? { name: String(only(choice, 'type name', 'tool_choice.').name) } : null
  const said = named ?? (choice === 'required' ? 'any' : (choice as 'auto' | 'none' | undefined))
  return { tools: read, ...(said !== undefined && { choice: said }), ...(parallel === false && { parallel: false }) }
}

function readSampling(body: JsonObject): Partial<Scene> {
  const { temperature, top_p: topP, max_output_tokens: maxOutput, reasoning, model } = body
  const effort = objectAt(reasoning ?? {}, 'reasoning').effort
  const reasons = /^(?:gpt-[5-9]|o\d)/.test(String(model))
  check(!reasons || (temperature ?? topP) === undefined, "Unsupported parameter: 'temperature', 'top_p'")
  check(reasons || reasoning === undefined, "Unsupported parameter: 'reasoning.effort'")
  const isOldest = /^gpt-5(?![.\d])/.test(String(model))
  check(effort !== 'minimal' || isOldest, "Unsupported value: 'minimal'. Supported values are: 'none', 'low', ...")
  return {
    ...(temperature !== undefined && { temperature: Number(temperature) }),
    ...(topP !== undefined && { topP: Number(topP) }),
    ...(maxOutput !== undefined && { maxOutput: Number(maxOutput) }),
    ...(effort !== undefined && { effort: String(effort) }),
  }
}

function readText(text: unknown): Partial<Scene> {
  if (text === undefined) return {}
  const { format } = only(objectAt(text, 'text'), 'format verbosity', 'text.')
  if (format === undefined) return {}
  const { type, name, schema, strict } = only(
    objectAt(format, 'text.format'),
    'type name schema strict',
    'text.format.',
  )
  check(type === 'json_schema', 'text.format.type')
  toolName(name, 'text.format.name')
  if (strict === true) strictSchema(schema, 'text.format.schema')
  return { schema: objectAt(schema, 'text.format.schema') }
}

function itemOf(piece: Piece, index: number): JsonObject {
  if (piece.kind === 'text') {
    const part = { type: 'output_text', text: piece.text, annotations: [], logprobs: [] }
    return { type: 'message', id: `msg_scene${index}`, role: 'assistant', status: 'completed', content: [part] }
  }
  if (piece.kind === 'thought') {
    const summary = piece.text === '' ? [] : [{ type: 'summary_text', text: piece.text }]
    return { type: 'reasoning', id: `rs_scene${index}`, summary, encrypted_content: seal }
  }
  if (piece.kind !== 'call') throw new Error(`no answer has a ${piece.kind}`)
  const call = { call_id: `call_scene${index}`, name: piece.name, arguments: JSON.stringify(piece.input) }
  return { type: 'function_call', id: `fc_scene${index}`, ...call, status: 'completed' }
}

function shell({ model }: JsonObject): JsonObject {
  const constant = {
    object: 'response',
    created_at: 1,
    error: null,
    instructions: null,
    metadata: {},
    model,
    tools: [],
  }
  return { id: 'resp_scene', ...constant, tool_choice: 'auto', parallel_tool_calls: true, temperature: 1, top_p: 1 }
}

const reasons = { length: 'max_output_tokens', filtered: 'content_filter' } as const

function whole({ pieces, finish }: Reply, body: JsonObject, usage: MockUsage): JsonObject {
  const cut = finish === 'length' || finish === 'filtered'
  const status = cut ? 'incomplete' : 'completed'
  const used = {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
  const details = cut ? { reason: reasons[finish] } : null
  return { ...shell(body), status, incomplete_details: details, output: pieces.map(itemOf), usage: used }
}

function events(reply: Reply, body: JsonObject, usage: MockUsage): string[] {
  const begun = { ...shell(body), status: 'in_progress', incomplete_details: null, output: [], usage: null }
  const done = whole(reply, body, usage)
  const steps: [string, JsonObject][] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ...(done.output as JsonObject[]).flatMap((item, output_index) => [
      ['response.output_item.added', { output_index, item: emptied(item) }] as [string, JsonObject],
      ...stepsOf(item, { item_id: item.id, output_index }),
      ['response.output_item.done', { output_index, item }] as [string, JsonObject],
    ]),
    [`response.${String(done.status)}`, { response: done }],
  ]
  return steps.map(
    ([type, data], sequence_number) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...data })}\n\n`,
  )
}

function emptied({ encrypted_content: _, ...item }: JsonObject): JsonObject {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] }
  return item.type === 'reasoning' ? { ...item, summary: [] } : { ...item, status: 'in_progress', arguments: '' }
}

function stepsOf(item: JsonObject, at: JsonObject): [string, JsonObject][] {
  if (item.type === 'function_call')
    return [
      ...halves(String(item.arguments)).map((delta): [string, JsonObject] => [
        'response.function_call_arguments.delta',
        { ...at, delta },
      ]),
      ['response.function_call_arguments.done', { ...at, arguments: item.arguments }],
    ]
  const [part] = (item.content ?? item.summary) as JsonObject[]
  if (part === undefined) return []
  const isText = item.type === 'message'
  const [kind, where, name] = isText
    ? ['output_text', { ...at, content_index: 0 }, 'content_part']
    : ['reasoning_summary_text', { ...at, summary_index: 0 }, 'reasoning_summary_part']
  const more = isText ? { logprobs: [] } : {}
  return [
    [`response.${name}.added`, { ...where, part: { ...part, text: '' } }],
    ...halves(String(part.text)).map((delta): [string, JsonObject] => [
      `response.${kind}.delta`,
      { ...where, delta, ...more },
    ]),
    [`response.${kind}.done`, { ...where, text: part.text, ...more }],
    [`response.${name}.done`, { ...where, part }],
  ]
}
