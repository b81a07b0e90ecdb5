import OpenAI from 'openai'
import type { JsonObject } from '../../mock-format.ts'
import { type Finish, type Got, type Piece, piecesOf, type Scene, type SceneTurn, textOf } from '../scene.ts'
import { type Asked, CallIds, type Dialect, pdfUrl, pngUrl, type SceneClient, typed } from './client.ts'

const finishes: Record<string, Finish> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'calls',
  content_filter: 'filtered',
}

export const chatDialect: Dialect = {
  cannot: new Set(['topK', 'failures', 'resultImages']),
  paramsOf,
  read: (answer) => {
    const completion = answer as OpenAI.ChatCompletion
    return { got: readCompletion(completion), raw: completion.choices[0]?.message }
  },
}

export function chatClient(baseUrl: string, key: string): SceneClient {
  const { completions } = new OpenAI({ apiKey: key, baseURL: `${baseUrl}/v1`, maxRetries: 0 }).chat
  return {
    cannot: chatDialect.cannot,
    ask: async (asked) => {
      const completion = asked.streamed
        ? await withThought(
            completions.stream(typed<Parameters<typeof completions.stream>[0]>({ ...paramsOf(asked), stream: true })),
          )
        : asked.scene.schema === undefined
          ? await completions.create(typed<OpenAI.ChatCompletionCreateParamsNonStreaming>(paramsOf(asked)))
          : await completions.parse(typed<OpenAI.ChatCompletionCreateParamsNonStreaming>(paramsOf(asked)))
      return chatDialect.read(completion)
    },
    loop: async (asked, results) => {
      const left = [...results]
      const call = () => textOf([left.shift() ?? { kind: 'text', text: '' }].map(asText))
      const tools = (asked.scene.tools ?? []).map(({ name, description, schema }) => ({
        type: 'function',
        function: { name, description, parameters: schema, parse: JSON.parse, function: call },
      }))
      const params = { ...paramsOf(asked), tools, stream: asked.streamed }
      const runner = completions.runTools(typed<Parameters<typeof completions.runTools>[0]>(params))
      await runner.done()
      return runner.allChatCompletions().map(readCompletion)
    },
  }
}

function asText(piece: Piece): Piece {
  return piece.kind === 'result' ? { kind: 'text', text: piece.text } : piece
}

function paramsOf({ model, scene, streamed, steps }: Asked): JsonObject {
  const ids = new CallIds()
  const { choice, schema } = scene
  return {
    model,
    messages: [...scene.turns.flatMap((turn) => messagesOf(turn, ids)), ...steps.flatMap(stepMessages)],
    ...(scene.tools && {
      tools: scene.tools.map(({ schema: parameters, ...tool }) => ({
        type: 'function',
        function: { ...tool, parameters },
      })),
    }),
    ...(choice && { tool_choice: choiceOf(choice) }),
    ...(scene.parallel === false && { parallel_tool_calls: false }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } }),
    ...(scene.effort && { reasoning_effort: scene.effort }),
    ...(scene.maxOutput && { max_completion_tokens: scene.maxOutput }),
    ...(scene.temperature !== undefined && { temperature: scene.temperature }),
    ...(scene.topP !== undefined && { top_p: scene.topP }),
    ...(scene.seed !== undefined && { seed: scene.seed }),
    ...(scene.stop && { stop: scene.stop }),
    ...(streamed && { stream_options: { include_usage: true } }),
  }
}

function choiceOf(choice: NonNullable<Scene['choice']>): unknown {
  if (typeof choice === 'object') return { type: 'function', function: choice }
  return choice === 'any' ? 'required' : choice
}

function messagesOf({ role, pieces }: SceneTurn, ids: CallIds): JsonObject[] {
  const results = piecesOf([{ pieces }], 'result').map(({ text }) => ({
    role: 'tool',
    tool_call_id: ids.result(),
    content: text,
  }))
  const calls = piecesOf([{ pieces }], 'call').map(({ name, input }) => {
    return { id: ids.call(), type: 'function', function: { name, arguments: JSON.stringify(input) } }
  })
  const content = pieces.flatMap(partOf)
  if (role === 'assistant')
    return [{ role, content: textOf(pieces) || null, ...(calls.length > 0 && { tool_calls: calls }) }]
  const plain = pieces.every((piece) => piece.kind === 'result' || (piece.kind === 'text' && piece.mark === undefined))
  return [...results, ...(content.length > 0 ? [{ role, content: plain ? textOf(pieces) : content }] : [])]
}

function partOf(piece: Piece): JsonObject[] {
  switch (piece.kind) {
    case 'text':
      return [{ type: 'text', text: piece.text, ...(piece.mark && { prompt_cache_breakpoint: { mode: 'explicit' } }) }]
    case 'image':
      return [{ type: 'image_url', image_url: { url: pngUrl(piece.data) } }]
    case 'image-url':
      return [{ type: 'image_url', image_url: { url: piece.url } }]
    case 'file':
      return [{ type: 'file', file: { filename: piece.name, file_data: pdfUrl(piece.data) } }]
    default:
      return []
  }
}

function stepMessages({ raw, results }: Asked['steps'][number]): unknown[] {
  const { parsed: _, ...message } = raw as OpenAI.ChatCompletionMessage & { parsed?: unknown }
  const calls = message.tool_calls?.map(withoutParsed)
  const texts = results.map((result) => ('text' in result ? result.text : ''))
  return [
    { ...message, ...(calls !== undefined && { tool_calls: calls }) },
    ...(calls ?? []).map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: texts[index] })),
  ]
}

/** What the helpers add for the client's own use is no member of the format. */
function withoutParsed(call: OpenAI.ChatCompletionMessageToolCall): { id: string } & JsonObject {
  if (call.type !== 'function') return { ...call }
  const { name, arguments: text } = call.function
  return { ...call, function: { name, arguments: text } }
}

function readCompletion({ choices, usage }: OpenAI.ChatCompletion): Got {
  const [choice] = choices
  const message = choice?.message
  const parsed = message !== undefined && 'parsed' in message ? message.parsed : null
  const content = message?.content ?? ''
  if (parsed !== null && parsed !== undefined && JSON.stringify(parsed) !== JSON.stringify(JSON.parse(content)))
    throw new Error('parsed is not what was answered')
  const thought = message !== undefined && 'reasoning_content' in message ? String(message.reasoning_content ?? '') : ''
  const pieces: Piece[] = [
    ...(thought === '' ? [] : [{ kind: 'thought' as const, text: thought, seal: '' }]),
    ...(content === '' ? [] : [{ kind: 'text' as const, text: content }]),
    ...(message?.tool_calls ?? []).flatMap((call): Piece[] =>
      call.type === 'function'
        ? [{ kind: 'call', name: call.function.name, input: JSON.parse(call.function.arguments) }]
        : [],
    ),
  ]
  return {
    pieces,
    finish: finishes[choice?.finish_reason ?? ''] ?? 'end',
    usage: usage
      ? {
          input: usage.prompt_tokens,
          output: usage.completion_tokens,
          cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
          reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
        }
      : null,
  }
}

/** The helper joins what it knows: of a vendor's own member only the last piece is left. */
async function withThought(
  stream: ReturnType<OpenAI['chat']['completions']['stream']>,
): Promise<OpenAI.ChatCompletion> {
  let thought = ''
  stream.on('chunk', ({ choices }) => {
    const delta = choices[0]?.delta
    if (delta !== undefined && 'reasoning_content' in delta) thought += String(delta.reasoning_content)
  })
  const completion = await stream.finalChatCompletion()
  const message = completion.choices[0]?.message
  if (message !== undefined && thought !== '') Object.assign(message, { reasoning_content: thought })
  return completion
}
