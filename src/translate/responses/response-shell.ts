import type { JsonObject } from '../../core/json/json-value.ts'
import { brokenAnswer } from '../broken-answer.ts'
import type { KeptState, WriteContext } from '../codec.ts'
import type { Conversation, OutputFormat } from '../conversation.ts'
import { openAiErrorCode } from '../openai-errors.ts'
import type { ReplyError, ReplyUsage, Stop } from '../reply.ts'
import { servedTier } from '../served-tier.ts'
import { ResponseIds } from './response-ids.ts'
import { writeTool, writeToolChoice } from './write-tools.ts'

/** The response around the items. Like OpenAI's, it repeats what the client asked for. */
export class ResponseShell {
  readonly ids: ResponseIds
  readonly #created: number
  readonly #constant: JsonObject
  readonly #kept: KeptState | null

  constructor({ conversation, requestId, created, kept }: WriteContext, id: string, model: string) {
    this.ids = new ResponseIds(id, requestId, kept !== undefined)
    this.#created = created
    this.#kept = kept ?? null
    this.#constant = repeat(conversation, model, this.#kept)
  }

  begin(): JsonObject {
    return this.#write('in_progress', [], null, {})
  }

  end(output: readonly JsonObject[], { reason }: Stop, usage: ReplyUsage | null): JsonObject {
    if (reason === 'broken') return this.fail(output, brokenAnswer, usage)
    // A call that a refusal cut off must not be made.
    const isCut = reason === 'refused' && output.some(({ status }) => status === 'incomplete')
    const incomplete = incompleteReason(isCut ? 'filtered' : reason)
    if (incomplete !== null)
      return this.#keep(this.#write('incomplete', output, usage, { incomplete_details: { reason: incomplete } }))
    return this.#keep(this.#write('completed', output, usage, {}))
  }

  fail(output: readonly JsonObject[], { kind, message }: ReplyError, usage: ReplyUsage | null): JsonObject {
    return this.#write('failed', output, usage, { error: { code: openAiErrorCode(kind), message } })
  }

  #keep(response: JsonObject): JsonObject {
    return this.#kept === null || this.#kept.take(response) ? response : { ...response, store: false }
  }

  #write(status: string, output: readonly JsonObject[], usage: ReplyUsage | null, more: JsonObject): JsonObject {
    return {
      id: this.ids.response,
      object: 'response',
      created_at: this.#created,
      status,
      error: null,
      incomplete_details: null,
      ...this.#constant,
      service_tier: servedTier(usage, 'responses'),
      output,
      usage: usage === null ? null : writeUsage(usage),
      ...writeToolUsage(usage),
      ...more,
    }
  }
}

function incompleteReason(reason: Stop['reason']): string | null {
  if (reason === 'length' || reason === 'context' || reason === 'paused') return 'max_output_tokens'
  return reason === 'filtered' ? 'content_filter' : null
}

function repeat(conversation: Conversation, model: string, kept: KeptState | null): JsonObject {
  const { settings, tools, toolChoice, turns, parallelCalls } = conversation
  const [first] = turns
  const instructions = first?.path === 'instructions' && first.parts[0]?.kind === 'text' ? first.parts[0].text : null
  return {
    access_programs: null,
    background: false,
    instructions,
    max_output_tokens: settings.maxOutput,
    metadata: settings.metadata ?? {},
    model,
    parallel_tool_calls: parallelCalls ?? true,
    previous_response_id: kept?.previous ?? null,
    reasoning: {
      effort: settings.reasoning?.effort ?? null,
      summary: settings.reasoning?.visible === true ? 'auto' : null,
    },
    // A client that believed an unstored id to be stored would get an error for its next request.
    store: kept !== null,
    temperature: settings.temperature,
    text: {
      format: writeFormat(settings.output),
      ...(settings.verbosity !== null && { verbosity: settings.verbosity }),
    },
    tool_choice: writeToolChoice(toolChoice, tools).tool_choice ?? 'auto',
    tools: tools.flatMap((tool) => writeTool(tool, null) ?? []),
    ...(settings.logprobs !== null && { top_logprobs: settings.logprobs.top ?? 0 }),
    top_p: settings.topP,
    truncation: 'disabled',
  }
}

function writeFormat(output: OutputFormat | null): JsonObject {
  if (output === null) return { type: 'text' }
  if (output.kind === 'json') return { type: 'json_object' }
  return { type: 'json_schema', name: output.name ?? 'answer', schema: output.schema, strict: output.strict ?? true }
}

function writeUsage({ tokens }: ReplyUsage): JsonObject {
  return {
    input_tokens: tokens.input,
    input_tokens_details: { cached_tokens: tokens.cache_read, cache_write_tokens: tokens.cache_write },
    output_tokens: tokens.output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: tokens.input + tokens.output,
  }
}

function writeToolUsage(usage: ReplyUsage | null): JsonObject {
  const searches = usage?.detail?.searches ?? null
  return searches === null ? {} : { tool_usage: { web_search: { num_requests: searches } } }
}
