import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import type { ResponseFormatJSONSchema } from 'openai/resources/shared'
import { describe, expect, it } from 'vitest'
import type { FormatName } from '../../src/core/format.ts'
import type { JsonObject } from '../../src/core/json/json-value.ts'
import { chatFields } from '../../src/translate/chat/fields.ts'
import type { FieldTable } from '../../src/translate/field-table.ts'
import { messagesFields } from '../../src/translate/messages/fields.ts'
import { chatBodies, messagesBodies } from '../support/translate/field-bodies.ts'
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
type Within = Item<Exclude<Anthropic.ContentBlockSource['content'], string>>
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
    hasRows<InMessages<Within, 'messages.content.source.content.'>>()
    hasRows<InMessages<Within, 'messages.content.content.source.content.'>>()
    hasRows<InMessages<Item<Anthropic.SearchResultBlockParam['content']>, 'messages.content.content.content.'>>()
    hasRows<InMessages<Anthropic.Beta.BetaRequestToolAdditionBlock['tool'], 'messages.content.tool.'>>()
    hasRows<InMessages<Anthropic.ToolUnion, 'messages.content.tool.definition.'>>()
    hasRows<InMessages<Anthropic.TextBlockParam, 'system.'>>()
    hasRows<InMessages<Anthropic.ToolUnion, 'tools.'>>()
    hasRows<InMessages<Anthropic.ToolChoice, 'tool_choice.'>>()
    hasRows<InMessages<Anthropic.ThinkingConfigParam, 'thinking.'>>()
    hasRows<InMessages<Anthropic.OutputConfig, 'output_config.'>>()
    hasRows<InMessages<Anthropic.Metadata, 'metadata.'>>()
  })
})

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
