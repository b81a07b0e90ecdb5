import type { FormatName } from '../core/format.ts'

/** When a field that normally arrives is lost or changed all the same, for all targets or by target. */
type ArrivalCondition = string | Partial<Record<FormatName, string>>

const signed = 'what nobody or another provider has signed stays behind'
const capped = 'no more than the model gives'
const refusedByModel = 'lost at models that refuse it'
const effort = 'the nearest that the model has; lost at one that does not reason'
const asEffort = 'an effort, except for Gemini and Claude at OpenRouter'
const servers = "lost at servers with OpenAI's API that are not OpenAI's own"
const fewTiers = '`flex` and `priority` only'
const unenforced = 'constraints that it does not enforce are said in the description'
const hint = 'a hint, where OpenAI refuses the schema as a strict one'
const folded =
  'a system message among others is said by the user, except at the newest Claude; what the assistant begins gets a beginning'
const untold = 'not said to models before Gemini 3'
const marks = 'the last four; twelve hours become one'
const choice = 'a choice of some tools is one of all, and a call is not forced where the model cannot be'
const behind = 'images go behind the results'
const behindOlder = 'images go behind the results at models before Gemini 3'
const names = 'of files only: images, audio and video have no names there'
const onBedrock = { messages: 'lost on Bedrock, where several models refuse it' }
const shown = "lost at OpenAI's chat; others show thoughts unasked"

const markingServers = `${servers}, nor OpenRouter`
const mark = { chat: markingServers, responses: servers, messages: marks }
const schema = { messages: unenforced, generate: unenforced }

/**
 * Fields that the tables of losses (`losses.ts`) say arrive, and when they do not, which depends on the model, the server or the value.
 * Actual losses are listed on the record; this table is for looking them up in advance.
 */
const conditions: Readonly<Record<FormatName, Readonly<Record<string, ArrivalCondition>>>> = {
  chat: {
    messages: { messages: folded, generate: folded },
    'messages.content.image_url.detail': { generate: untold },
    'messages.content.prompt_cache_breakpoint': mark,
    'messages.content.cache_control': mark,
    'messages.cache_control': mark,
    'messages.tool_calls.cache_control': { messages: marks },
    'messages.tool_calls': signed,
    'messages.function_call': signed,
    'messages.content.thinking': signed,
    'messages.reasoning_content': signed,
    'messages.reasoning': signed,
    'messages.extra_content': signed,
    'tools.function.parameters': schema,
    'tools.function.strict': onBedrock,
    'tools.custom.format': { responses: servers },
    'tools.cache_control': { messages: marks },
    'functions.parameters': schema,
    functions: { generate: 'it may call more than one' },
    tool_choice: { messages: choice },
    function_call: { messages: choice },
    max_completion_tokens: capped,
    max_tokens: capped,
    temperature: refusedByModel,
    top_p: refusedByModel,
    frequency_penalty: { generate: refusedByModel },
    presence_penalty: { generate: refusedByModel },
    reasoning_effort: effort,
    reasoning: effort,
    'reasoning.effort': effort,
    'reasoning.max_tokens': effort,
    thinking: effort,
    'thinking.budget_tokens': effort,
    'response_format.json_schema.schema': schema,
    service_tier: { generate: fewTiers },
  },
  responses: {
    input: { chat: signed, messages: `${signed}; ${folded}`, generate: `${signed}; ${folded}` },
    'input.content.detail': { generate: untold },
    'input.content.prompt_cache_breakpoint': mark,
    'input.output': { chat: behind, generate: behindOlder },
    'input.output.detail': { generate: 'not said of images in results' },
    'input.output.prompt_cache_breakpoint': mark,
    'input.summary': signed,
    'input.encrypted_content': signed,
    'input.tools.format': { chat: servers },
    'input.tools.strict': onBedrock,
    'input.tools.tools.format': { chat: servers },
    'input.tools.tools.strict': onBedrock,
    max_output_tokens: capped,
    reasoning: effort,
    'reasoning.effort': effort,
    'reasoning.summary': { chat: shown },
    'reasoning.generate_summary': { chat: shown },
    service_tier: { chat: servers, generate: fewTiers },
    temperature: refusedByModel,
    'text.format.schema': schema,
    'text.verbosity': { chat: servers },
    tool_choice: { chat: servers, messages: choice },
    'tools.format': { chat: servers },
    'tools.strict': onBedrock,
    'tools.parameters': schema,
    'tools.tools.format': { chat: servers },
    'tools.tools.strict': onBedrock,
    'tools.tools.parameters': schema,
    top_p: refusedByModel,
  },
  messages: {
    messages: { generate: folded },
    'messages.content': signed,
    'messages.content.thinking': signed,
    'messages.content.signature': signed,
    'messages.content.data': signed,
    'messages.content.cache_control': { chat: servers, responses: `${servers}, and of answers and calls` },
    'messages.content.content': { chat: behind, generate: behindOlder },
    'messages.content.content.cache_control': mark,
    'messages.content.content.content.cache_control': mark,
    'messages.content.source.content.cache_control': mark,
    'messages.content.content.source.content': { chat: behind, generate: behindOlder },
    'messages.content.content.source.content.cache_control': mark,
    'messages.content.tool.definition.input_schema': { generate: unenforced },
    'messages.content.tool.definition.strict': { chat: hint, responses: hint },
    'messages.content.tool.definition.blocked_domains': { generate: 'refused by Gemini; Vertex leaves them out' },
    'messages.content.title': { generate: 'lost of files' },
    'system.cache_control': mark,
    'tools.input_schema': { generate: unenforced },
    'tools.blocked_domains': { generate: 'refused by Gemini; Vertex leaves them out' },
    'tools.strict': { chat: hint, responses: hint },
    tool_choice: {
      chat: 'a search is not forced',
      responses: 'a search is not forced among others',
      generate: 'a search is not forced',
    },
    thinking: effort,
    'thinking.budget_tokens': { chat: asEffort },
    'thinking.display': { chat: shown },
    'output_config.effort': effort,
    'output_config.format': { chat: hint, responses: hint, generate: unenforced },
    output_format: { chat: hint, responses: hint, generate: unenforced },
    max_tokens: capped,
    temperature: refusedByModel,
    top_p: refusedByModel,
    top_k: { generate: refusedByModel },
  },
  generate: {
    'contents.parts': signed,
    'contents.parts.functionResponse.response': {
      chat: 'a failure is said in the text',
      responses: 'a failure is said in the text',
    },
    'contents.parts.functionResponse.parts': { chat: behind },
    'contents.parts.functionResponse.parts.inlineData.displayName': names,
    'contents.parts.functionResponse.parts.fileData.displayName': names,
    'contents.parts.inlineData.displayName': names,
    'contents.parts.fileData.displayName': names,
    'toolConfig.functionCallingConfig': { chat: servers, messages: choice },
    serviceTier: { chat: servers },
    'generationConfig.maxOutputTokens': capped,
    'generationConfig.temperature': refusedByModel,
    'generationConfig.topP': refusedByModel,
    'generationConfig.topK': { messages: refusedByModel },
    'generationConfig.presencePenalty': { chat: refusedByModel },
    'generationConfig.frequencyPenalty': { chat: refusedByModel },
    'generationConfig.responseSchema': { chat: hint, responses: hint, messages: unenforced },
    'generationConfig.responseJsonSchema': { chat: hint, responses: hint, messages: unenforced },
    'generationConfig.thinkingConfig': effort,
    'generationConfig.thinkingConfig.thinkingBudget': { chat: asEffort, messages: effort },
    'generationConfig.thinkingConfig.thinkingLevel': effort,
    'generationConfig.thinkingConfig.includeThoughts': { chat: shown },
  },
}

/** When a field that normally arrives does not; null: it always does. */
export function conditionOf(from: FormatName, field: string, to: FormatName): string | null {
  const condition = conditions[from][field]
  return typeof condition === 'string' ? condition : (condition?.[to] ?? null)
}
