import Anthropic from '@anthropic-ai/sdk'
import type { JsonObject } from '../../mock-format.ts'
import type { Finish, Got, Piece, Scene, SceneTurn } from '../scene.ts'
import { type Asked, CallIds, type Dialect, leadingSystem, type SceneClient, typed } from './client.ts'

const finishes: Record<string, Finish> = {
  end_turn: 'end',
  max_tokens: 'length',
  tool_use: 'calls',
  refusal: 'filtered',
}

export const messagesDialect: Dialect = {
  cannot: new Set(['seed']),
  paramsOf,
  read: (answer) => {
    const message = answer as Anthropic.Message
    return { got: readMessage(message), raw: message.content }
  },
}

export function messagesClient(baseUrl: string, key: string): SceneClient {
  const { messages } = new Anthropic({ apiKey: key, baseURL: `${baseUrl}/v1/anthropic`, maxRetries: 0 })
  return {
    cannot: messagesDialect.cannot,
    ask: async (asked) => {
      const params = typed<Anthropic.MessageCreateParamsNonStreaming>(paramsOf(asked))
      const message = asked.streamed
        ? await messages.stream(params).finalMessage()
        : asked.scene.schema === undefined
          ? await messages.create(params)
          : await messages.parse(params)
      return messagesDialect.read(message)
    },
  }
}

function paramsOf({ model, scene, steps }: Asked): JsonObject {
  const ids = new CallIds()
  const { leading, rest } = leadingSystem(scene)
  const { choice, schema, effort, parallel } = scene
  const system = leading.flatMap(({ pieces }) => pieces.map((piece) => blockOf(piece, ids)))
  const asked = effort === 'none' ? undefined : effort
  const config = { ...(asked && { effort: asked }), ...(schema && { format: { type: 'json_schema', schema } }) }
  const single = parallel === false ? { disable_parallel_tool_use: true } : {}
  const chosen = choice ?? (parallel === false ? 'auto' : null)
  return {
    model,
    max_tokens: scene.maxOutput ?? 4096,
    ...(system.length > 0 && { system }),
    messages: [
      ...rest.map(({ role, pieces }: SceneTurn) => ({ role, content: pieces.map((piece) => blockOf(piece, ids)) })),
      ...steps.flatMap(stepMessages),
    ],
    ...(scene.tools && { tools: scene.tools.map(({ schema: input_schema, ...tool }) => ({ ...tool, input_schema })) }),
    ...(chosen && { tool_choice: { ...choiceOf(chosen), ...single } }),
    ...(effort && { thinking: asked ? { type: 'adaptive', display: 'summarized' } : { type: 'disabled' } }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...(scene.temperature !== undefined && { temperature: scene.temperature }),
    ...(scene.topP !== undefined && { top_p: scene.topP }),
    ...(scene.topK !== undefined && { top_k: scene.topK }),
    ...(scene.stop && { stop_sequences: scene.stop }),
  }
}

function choiceOf(choice: NonNullable<Scene['choice']>): JsonObject {
  return typeof choice === 'object' ? { type: 'tool', ...choice } : { type: choice }
}

function blockOf(piece: Piece, ids: CallIds): JsonObject {
  switch (piece.kind) {
    case 'text':
      return { type: 'text', text: piece.text, ...(piece.mark && { cache_control: { type: 'ephemeral' } }) }
    case 'image':
      return imageOf(piece.data)
    case 'image-url':
      return { type: 'image', source: { type: 'url', url: piece.url } }
    case 'file': {
      const source = { type: 'base64', media_type: 'application/pdf', data: piece.data }
      return { type: 'document', source, title: piece.name }
    }
    case 'call':
      return { type: 'tool_use', id: ids.call(), name: piece.name, input: piece.input }
    case 'result':
      return resultOf(piece, ids.result())
    case 'thought':
      return { type: 'thinking', thinking: piece.text, signature: piece.seal }
  }
}

function imageOf(data: string): JsonObject {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
}

function resultOf({ text, failed, image }: Extract<Piece, { kind: 'result' }>, id: string | undefined): JsonObject {
  const content = image === undefined ? text : [{ type: 'text', text }, imageOf(image)]
  return { type: 'tool_result', tool_use_id: id, content, ...(failed && { is_error: true }) }
}

function stepMessages({ raw, results }: Asked['steps'][number]): JsonObject[] {
  const content = raw as Anthropic.ContentBlock[]
  const calls = content.filter((block) => block.type === 'tool_use')
  const blocks = results.flatMap((result, index) =>
    result.kind === 'result' ? [resultOf(result, calls[index]?.id)] : [],
  )
  return [
    { role: 'assistant', content },
    { role: 'user', content: blocks },
  ]
}

function readMessage({ content, stop_reason, usage }: Anthropic.Message): Got {
  const pieces = content.flatMap((block): Piece[] => {
    if (block.type === 'text') return [{ kind: 'text', text: block.text }]
    if (block.type === 'thinking') return [{ kind: 'thought', text: block.thinking, seal: block.signature }]
    if (block.type === 'redacted_thinking') return [{ kind: 'thought', text: '', seal: block.data }]
    return block.type === 'tool_use' ? [{ kind: 'call', name: block.name, input: block.input as JsonObject }] : []
  })
  const cached = usage.cache_read_input_tokens ?? 0
  return {
    pieces,
    finish: finishes[stop_reason ?? ''] ?? 'end',
    usage: {
      input: usage.input_tokens + cached + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
      cached,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  }
}
