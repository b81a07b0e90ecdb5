import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import type { ResponseFormatJSONSchema } from 'openai/resources/shared'
import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import type { JsonObject } from '../../src/core/json-value.ts'
import { chatFields } from '../../src/translate/chat/fields.ts'
import type { FieldTable } from '../../src/translate/field-table.ts'
import { messagesFields } from '../../src/translate/messages/fields.ts'
import { isAccountedFor, unsaidLosses } from '../support/translate/field-check.ts'
import type { RequestOptions } from '../support/translate/stage.ts'

/** The names of the members of a type, and of each of its alternatives. */
type Names<T> = T extends object ? { [Name in keyof T]-?: string extends Name ? never : Name }[keyof T] & string : never
type Item<T> = T extends readonly (infer Element)[] ? Element : never
/** Members of an SDK's type that a table has no row for. */
type Missing<T, Prefix extends string, Table> = Exclude<`${Prefix}${Names<T>}`, keyof Table>

/** Does not compile while the SDK has members that the table does not name: give each of them a row. */
function hasRows<_Missing extends never>(): void {}

type Chat = OpenAI.Chat.ChatCompletionCreateParams
type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam
type ChatPart = Item<Exclude<ChatMessage['content'], string | null | undefined>>
type ChatCall = OpenAI.Chat.ChatCompletionMessageToolCall
type ChatTool = OpenAI.Chat.ChatCompletionTool
type InChat<T, Prefix extends string> = Missing<T, Prefix, typeof chatFields>

type Messages = Anthropic.MessageCreateParams
type Block = Anthropic.ContentBlockParam
type Hosted = Extract<Block, { type: `${string}_tool_result` | 'server_tool_use' }>
type Inner = Item<Exclude<Anthropic.ToolResultBlockParam['content'], string | undefined>>
type InMessages<T, Prefix extends string> = Missing<T, Prefix, typeof messagesFields>

describe('the tables name every member of the SDKs', () => {
  it('chat', () => {
    hasRows<InChat<Chat, ''>>()
    hasRows<InChat<ChatMessage, 'messages.'>>()
    hasRows<InChat<ChatPart, 'messages.content.'>>()
    hasRows<InChat<OpenAI.Chat.ChatCompletionContentPartImage.ImageURL, 'messages.content.image_url.'>>()
    hasRows<InChat<OpenAI.Chat.ChatCompletionContentPart.File.File, 'messages.content.file.'>>()
    hasRows<InChat<ChatCall, 'messages.tool_calls.'>>()
    hasRows<InChat<Extract<ChatCall, { type: 'function' }>['function'], 'messages.tool_calls.function.'>>()
    hasRows<InChat<Extract<ChatCall, { type: 'custom' }>['custom'], 'messages.tool_calls.custom.'>>()
    hasRows<InChat<OpenAI.Chat.ChatCompletionAssistantMessageParam.FunctionCall, 'messages.function_call.'>>()
    hasRows<InChat<ChatTool, 'tools.'>>()
    hasRows<InChat<Extract<ChatTool, { type: 'function' }>['function'], 'tools.function.'>>()
    hasRows<InChat<Extract<ChatTool, { type: 'custom' }>['custom'], 'tools.custom.'>>()
    hasRows<InChat<OpenAI.Chat.ChatCompletionCreateParams.Function, 'functions.'>>()
    hasRows<InChat<NonNullable<Chat['response_format']>, 'response_format.'>>()
    hasRows<InChat<ResponseFormatJSONSchema.JSONSchema, 'response_format.json_schema.'>>()
    hasRows<InChat<OpenAI.Chat.ChatCompletionStreamOptions, 'stream_options.'>>()
    hasRows<InChat<OpenAI.Chat.ChatCompletionCreateParams.WebSearchOptions, 'web_search_options.'>>()
  })

  it('messages', () => {
    hasRows<InMessages<Messages, ''>>()
    hasRows<InMessages<Anthropic.MessageParam, 'messages.'>>()
    hasRows<InMessages<Exclude<Block, Hosted>, 'messages.content.'>>()
    hasRows<InMessages<Inner, 'messages.content.content.'>>()
    hasRows<InMessages<Anthropic.ImageBlockParam['source'], 'messages.content.source.'>>()
    hasRows<InMessages<Anthropic.DocumentBlockParam['source'], 'messages.content.source.'>>()
    hasRows<InMessages<Anthropic.TextBlockParam, 'system.'>>()
    hasRows<InMessages<Anthropic.ToolUnion, 'tools.'>>()
    hasRows<InMessages<Anthropic.ToolChoice, 'tool_choice.'>>()
    hasRows<InMessages<Anthropic.ThinkingConfigParam, 'thinking.'>>()
    hasRows<InMessages<Anthropic.OutputConfig, 'output_config.'>>()
    hasRows<InMessages<Anthropic.Metadata, 'metadata.'>>()
  })
})

const png = 'data:image/png;base64,iVBORw0KGgo='

/** Requests that have every field of the table among them, with values that ask for something. */
const chatBodies: readonly JsonObject[] = [
  {
    model: 'm',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'A', prompt_cache_breakpoint: { mode: 'explicit' } }] },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'B', cache_control: { type: 'ephemeral' } },
          { type: 'image_url', image_url: { url: png, detail: 'low' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'C', annotations: [] },
          { type: 'refusal', refusal: 'no' },
        ],
        refusal: 'never',
        annotations: [{ type: 'url_citation' }],
        parsed: { a: 1 },
        reasoning_content: 'Hm.',
        extra_content: { spgw: { reasoning: [sealed('signature')] } },
        tool_calls: [
          {
            id: 'a',
            index: 0,
            type: 'function',
            function: { name: 'f', arguments: '{"x":1}', parsed_arguments: { x: 1 } },
            extra_content: { google: { thought_signature: sealed('thought') } },
          },
          { id: 'b', type: 'custom', custom: { name: 'g', input: 'text' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
      { role: 'tool', tool_call_id: 'b', content: 's' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'f', description: 'd', parameters: { type: 'object', properties: { a: {} } }, strict: true },
      },
      { type: 'custom', custom: { name: 'g', description: 'd', format: { type: 'grammar', grammar: {} } } },
      { type: 'function', function: { name: 'h' }, cache_control: { type: 'ephemeral' } },
    ],
    tool_choice: 'required',
    parallel_tool_calls: false,
    max_completion_tokens: 100,
    temperature: 0.5,
    frequency_penalty: 1,
    presence_penalty: 1,
    seed: 1,
    logit_bias: { 1: 1 },
    stop: ['END'],
    stream: true,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'n', description: 'd', schema: { type: 'object' }, strict: true },
    },
    reasoning_effort: 'low',
    verbosity: 'low',
    prediction: { type: 'content', content: 'x' },
    web_search_options: {
      search_context_size: 'low',
      user_location: { type: 'approximate', approximate: { city: 'Oslo' } },
    },
    moderation: { model: 'm' },
    safety_identifier: 'u',
    metadata: { a: 'b' },
    store: true,
    service_tier: 'flex',
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit' },
    prompt_cache_retention: '24h',
    include: ['reasoning.encrypted_content'],
  },
  { model: 'm', messages: [{ role: 'user', content: 'x' }], max_tokens: 5, user: 'u' },
  {
    model: 'm',
    messages: [
      { role: 'user', content: 'x', cache_control: { type: 'ephemeral' } },
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'r' },
    ],
    tools: [{ type: 'function', function: { name: 'f' } }],
  },
  {
    model: 'm',
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: 'y', reasoning_content: 'Hm.' },
      { role: 'assistant', content: 'z', reasoning: 'Hm.' },
      { role: 'user', content: 'z' },
    ],
  },
  {
    model: 'm',
    messages: [{ role: 'user', content: 'x' }],
    top_p: 0.5,
    stream: true,
    stream_options: { include_usage: true, include_obfuscation: false },
  },
  {
    model: 'm',
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', function_call: { name: 'f', arguments: '{"x":1}' } },
      { role: 'function', name: 'f', content: 'r' },
    ],
    functions: [{ name: 'f', description: 'd', parameters: { type: 'object', properties: { a: {} } } }],
    function_call: { name: 'f' },
  },
  {
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }],
  },
  { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
  {
    model: 'm',
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', audio: { id: 'a' } },
      { role: 'user', content: 'y' },
    ],
  },
  ...[
    { n: 2 },
    { logprobs: true },
    { top_logprobs: 3 },
    { modalities: ['text', 'audio'] },
    { audio: { voice: 'v', format: 'wav' } },
  ].map((member) => ({ model: 'm', messages: [{ role: 'user', content: 'x' }], ...member })),
]

function sealed(form: 'signature' | 'thought'): string {
  const opaque =
    form === 'signature'
      ? { family: 'anthropic', form, value: JSON.stringify({ text: 'Hm.', value: 'c2ln' }) }
      : { family: 'gemini', form, value: 'dGg=' }
  return `sealed.${Buffer.from(JSON.stringify(opaque)).toString('base64url')}`
}

const marked = { cache_control: { type: 'ephemeral' } }
const question = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'x' }] }

const messagesBodies: readonly JsonObject[] = [
  {
    model: 'm',
    max_tokens: 100,
    system: [{ type: 'text', text: 'A', citations: [], ...marked }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'B', citations: [{ type: 'char_location' }], ...marked },
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' },
            transformations: { oversized_image: 'error' },
          },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          {
            type: 'document',
            title: 'T',
            context: 'c',
            source: { type: 'content', content: [{ type: 'text', text: 'D' }] },
          },
          { type: 'search_result', source: 's', title: 'T', content: [{ type: 'text', text: 'E' }] },
          { type: 'container_upload', file_id: 'f' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'cmVk' },
          {
            type: 'tool_use',
            id: 'a',
            name: 'f',
            input: { x: 1 },
            caller: { type: 'direct' },
            toolset_name: 'browser',
          },
          { type: 'tool_use', id: 'b', name: 'f', input: { x: 2 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', is_error: true, content: 'r' },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: [
              { type: 'text', text: 'B', citations: [{ type: 'char_location' }], ...marked },
              {
                type: 'image',
                source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' },
                transformations: { oversized_image: 'error' },
              },
              { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
              {
                type: 'document',
                title: 'T',
                context: 'c',
                source: { type: 'content', content: [{ type: 'text', text: 'D' }] },
              },
              { type: 'search_result', source: 's', title: 'T', content: [{ type: 'text', text: 'E' }] },
              { type: 'tool_reference', tool_name: 't' },
              { type: 'browser_state', tabs: [], state_changes: [] },
            ],
          },
        ],
      },
    ],
    tools: [
      {
        name: 'f',
        type: 'custom',
        description: 'd',
        input_schema: { type: 'object', properties: { a: { type: 'string' } } },
        strict: true,
        allowed_callers: ['code_execution_20260120'],
        defer_loading: true,
        eager_input_streaming: true,
        input_examples: [{ x: 1 }],
        ...marked,
      },
      { name: 'g', input_schema: { type: 'object' } },
    ],
    tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized' },
    stop_sequences: ['END'],
    temperature: 0.5,
    top_p: 0.5,
    top_k: 5,
    stream: true,
    metadata: { user_id: 'u' },
    ...marked,
    service_tier: 'standard_only',
    speed: 'fast',
    diagnostics: {},
    user_profile_id: 'p',
    workspace_id: 'w',
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    betas: ['b'],
  },
  {
    ...question,
    output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } }, task_budget: {} },
  },
  {
    ...question,
    tools: [
      {
        type: 'web_search_20260318',
        name: 'web_search',
        user_location: { type: 'approximate', city: 'Oslo' },
        response_inclusion: 'excluded',
      },
    ],
  },
  ...[
    { max_uses: 1 },
    { allowed_domains: ['e.com'] },
    { blocked_domains: ['e.com'] },
    { configs: {} },
    { citations: { enabled: true } },
    { max_characters: 1 },
    { max_content_tokens: 1 },
    { url_sources: {} },
    { use_cache: false },
  ].map((member) => ({ ...question, tools: [{ type: 'web_search_20250305', name: 'web_search', ...member }] })),
  { ...question, container: 'c' },
  { ...question, inference_geo: 'eu', output_format: { type: 'json_schema', schema: { type: 'object' } } },
  { ...question, mcp_servers: [{}] },
  { ...question, messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
  {
    ...question,
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }],
          },
        ],
      },
    ],
  },
]

const targets = {
  messages: { model: 'claude-sonnet-4-5' },
  chat: { model: 'gpt-oss-120b' },
  compatible: { model: 'qwen', compatible: true },
  responses: { model: 'gpt-4.1' },
  generate: { model: 'gemini-3-pro' },
} satisfies Record<string, RequestOptions>

const pairs: readonly [FormatName, FormatName, FieldTable, readonly JsonObject[], RequestOptions][] = [
  ['chat', 'messages', chatFields, chatBodies, targets.messages],
  ['chat', 'responses', chatFields, chatBodies, targets.responses],
  ['chat', 'generate', chatFields, chatBodies, targets.generate],
  ['messages', 'chat', messagesFields, messagesBodies, targets.chat],
  ['messages', 'chat', messagesFields, messagesBodies, targets.compatible],
  ['messages', 'responses', messagesFields, messagesBodies, targets.responses],
  ['messages', 'generate', messagesFields, messagesBodies, targets.generate],
]

describe.each(pairs)('from %s to %s every field is kept, listed or refused', (from, to, table, bodies, options) => {
  // What becomes of a value (`max_tokens:0`) is a golden case.
  it.each(Object.keys(table).filter((name) => !name.includes(':')))(`${options.model}: %s`, (field) => {
    expect(isAccountedFor(from, to, field, bodies, options)).toBe(true)
  })
})

const others = ['chat', 'responses', 'messages', 'generate'] as const
describe.each([
  ['chat', chatBodies],
  ['messages', messagesBodies],
] as const)('from %s', (from, bodies) => {
  it.each(others.filter((to) => to !== from))('what is lost at models of %s is in the table', (to) => {
    expect(unsaidLosses(from, to, bodies)).toEqual([])
  })
})
