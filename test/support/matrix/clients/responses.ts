import OpenAI from 'openai'
import type { JsonObject } from '../../mock-format.ts'
import type { Finish, Got, Piece, Scene, SceneTurn } from '../scene.ts'
import { type Asked, CallIds, type Dialect, leadingSystem, pdfUrl, pngUrl, type SceneClient, typed } from './client.ts'

export const responsesDialect: Dialect = {
  cannot: new Set(['topK', 'seed', 'stop', 'failures']),
  paramsOf,
  read: (answer) => {
    const response = answer as OpenAI.Responses.Response
    return { got: readResponse(response), raw: response.output }
  },
}

export function responsesClient(baseUrl: string, key: string): SceneClient {
  const { responses } = new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0 })
  return {
    cannot: responsesDialect.cannot,
    ask: async (asked) => {
      const response = asked.streamed
        ? await responses
            .stream(typed<Parameters<typeof responses.stream>[0]>({ ...paramsOf(asked), stream: true }))
            .finalResponse()
        : asked.scene.schema === undefined
          ? await responses.create(typed<OpenAI.Responses.ResponseCreateParamsNonStreaming>(paramsOf(asked)))
          : await responses.parse(typed<OpenAI.Responses.ResponseCreateParamsNonStreaming>(paramsOf(asked)))
      return responsesDialect.read(response)
    },
  }
}

function paramsOf({ model, scene, steps }: Asked): JsonObject {
  const ids = new CallIds()
  const { leading, rest } = leadingSystem(scene)
  const { choice, schema, effort } = scene
  const marked = leading.some(({ pieces }) => pieces.some((piece) => 'mark' in piece))
  const instructions = leading.flatMap(({ pieces }) => pieces.map((piece) => ('text' in piece ? piece.text : '')))
  return {
    model,
    ...(instructions.length > 0 && !marked && { instructions: instructions.join('\n\n') }),
    input: [...(marked ? scene.turns : rest).flatMap((turn) => itemsOf(turn, ids)), ...steps.flatMap(stepItems)],
    ...(scene.tools && {
      tools: scene.tools.map(({ schema: parameters, ...tool }) => ({
        type: 'function',
        ...tool,
        parameters,
        strict: false,
      })),
    }),
    ...(choice && { tool_choice: choiceOf(choice) }),
    ...(scene.parallel === false && { parallel_tool_calls: false }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } } }),
    ...(effort && { reasoning: { effort, summary: 'auto' }, include: ['reasoning.encrypted_content'], store: false }),
    ...(scene.maxOutput && { max_output_tokens: scene.maxOutput }),
    ...(scene.temperature !== undefined && { temperature: scene.temperature }),
    ...(scene.topP !== undefined && { top_p: scene.topP }),
  }
}

function choiceOf(choice: NonNullable<Scene['choice']>): unknown {
  if (typeof choice === 'object') return { type: 'function', ...choice }
  return choice === 'any' ? 'required' : choice
}

function itemsOf({ role, pieces }: SceneTurn, ids: CallIds): JsonObject[] {
  const own = pieces.flatMap((piece): JsonObject[] => {
    if (piece.kind === 'call') {
      const { name, input } = piece
      return [{ type: 'function_call', call_id: ids.call(), name, arguments: JSON.stringify(input) }]
    }
    if (piece.kind !== 'result') return []
    return [{ type: 'function_call_output', call_id: ids.result(), output: outputOf(piece) }]
  })
  const content = pieces.flatMap((piece) => partOf(piece, role === 'assistant'))
  const said = content.length === 0 ? [] : [{ type: 'message', role: role === 'system' ? 'developer' : role, content }]
  return role === 'assistant' ? [...said, ...own] : [...own, ...said]
}

function outputOf({ text, image }: Extract<Piece, { kind: 'result' }>): unknown {
  if (image === undefined) return text
  return [
    { type: 'input_text', text },
    { type: 'input_image', image_url: pngUrl(image), detail: 'auto' },
  ]
}

function partOf(piece: Piece, isOutput: boolean): JsonObject[] {
  switch (piece.kind) {
    case 'text':
      if (isOutput) return [{ type: 'output_text', text: piece.text, annotations: [] }]
      return [
        { type: 'input_text', text: piece.text, ...(piece.mark && { prompt_cache_breakpoint: { mode: 'explicit' } }) },
      ]
    case 'image':
      return [{ type: 'input_image', image_url: pngUrl(piece.data), detail: 'auto' }]
    case 'image-url':
      return [{ type: 'input_image', image_url: piece.url, detail: 'auto' }]
    case 'file':
      return [{ type: 'input_file', filename: piece.name, file_data: pdfUrl(piece.data) }]
    default:
      return []
  }
}

function stepItems({ raw, results }: Asked['steps'][number]): unknown[] {
  const output = raw as OpenAI.Responses.ResponseOutputItem[]
  const calls = output.filter((item) => item.type === 'function_call')
  const outputs = results.map((result, index) => ({
    type: 'function_call_output',
    call_id: calls[index]?.call_id,
    output: result.kind === 'result' ? outputOf(result) : '',
  }))
  // What the helpers add for the client's own use is no member of the format.
  const items = output.map((item) => {
    if (item.type !== 'function_call' || !('parsed_arguments' in item)) return item
    const { parsed_arguments: _, ...call } = item
    return call
  })
  return [...items, ...outputs]
}

function readResponse({ output, status, error, incomplete_details: cut, usage }: OpenAI.Responses.Response): Got {
  // The SDK gives a failed response like any other.
  if (error !== null && error !== undefined) throw new Error(error.message)
  const pieces = output.flatMap((item): Piece[] => {
    if (item.type === 'message')
      return item.content.flatMap((part): Piece[] =>
        part.type === 'output_text' ? [{ kind: 'text', text: part.text }] : [],
      )
    if (item.type === 'function_call') return [{ kind: 'call', name: item.name, input: JSON.parse(item.arguments) }]
    if (item.type !== 'reasoning') return []
    return [
      { kind: 'thought', text: item.summary.map(({ text }) => text).join(''), seal: item.encrypted_content ?? '' },
    ]
  })
  const refused = output.some((item) => item.type === 'message' && item.content.some(({ type }) => type === 'refusal'))
  const called = pieces.some(({ kind }) => kind === 'call')
  const cuts: Record<string, Finish> = { max_output_tokens: 'length', content_filter: 'filtered' }
  return {
    pieces,
    finish:
      status === 'incomplete' ? (cuts[cut?.reason ?? ''] ?? 'end') : refused ? 'filtered' : called ? 'calls' : 'end',
    usage: usage
      ? {
          input: usage.input_tokens,
          output: usage.output_tokens,
          cached: usage.input_tokens_details.cached_tokens,
          reasoning: usage.output_tokens_details.reasoning_tokens,
        }
      : null,
  }
}
