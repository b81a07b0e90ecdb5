import {
  below,
  dropped,
  type FieldRow,
  type FieldTable,
  ignored,
  logprobsRow,
  mapped,
  refused,
  stopRow,
} from '../field-table.ts'
import { storedFile } from '../media-type.ts'

const noMeaning = 'it changes what the answer holds'

const signed: FieldRow = {
  otherwise: 'mapped',
  why: 'only with its signature; without one it is listed, and refused by no route',
}

/** Gemini alone hears and sees it. */
function refusedMedia(what: string): FieldRow {
  return { to: { messages: 'refused', responses: 'refused' }, otherwise: 'mapped', why: `it accepts no ${what}` }
}

/** Chat completions: every member of a request, and what becomes of it at the other formats. */
export const chatFields = {
  model: mapped,
  messages: mapped,
  ...below('messages', {
    role: mapped,
    content: mapped,
    ...below('content', {
      type: mapped,
      text: mapped,
      refusal: mapped,
      image_url: mapped,
      'image_url.url': mapped,
      'image_url.detail': { to: { responses: 'kept', generate: 'mapped' }, otherwise: 'ignored' },
      input_audio: refusedMedia('audio'),
      file: mapped,
      'file.file_data': mapped,
      'file.file_id': {
        to: { responses: 'kept' },
        otherwise: 'refused',
        why: storedFile,
      },
      'file.filename': { to: { generate: 'dropped' }, otherwise: 'mapped' },
      // Of other servers: Mistral, OpenRouter, vLLM.
      document_url: mapped,
      document_name: { to: { generate: 'dropped' }, otherwise: 'mapped' },
      video_url: refusedMedia('video'),
      'video_url.url': mapped,
      audio_url: refusedMedia('audio'),
      'audio_url.url': mapped,
      thinking: signed,
      closed: ignored,
      prompt_cache_breakpoint: { to: { responses: 'kept', messages: 'mapped' }, otherwise: 'dropped' },
      // What clients write for Anthropic through OpenAI's format.
      cache_control: { to: { responses: 'mapped', messages: 'mapped' }, otherwise: 'dropped' },
    }),
    cache_control: { to: { responses: 'mapped', messages: 'mapped' }, otherwise: 'dropped' },
    'tool_calls.cache_control': { to: { messages: 'mapped' }, otherwise: 'dropped' },
    name: { otherwise: 'dropped', why: 'messages have no names there' },
    refusal: mapped,
    // Mistral's: the answer goes on from here.
    prefix: { otherwise: 'dropped', harmless: [false] },
    audio: refused('audio of an earlier answer is only known to its provider'),
    function_call: mapped,
    'function_call.name': mapped,
    'function_call.arguments': mapped,
    tool_calls: mapped,
    ...below('tool_calls', {
      id: mapped,
      type: mapped,
      index: ignored,
      function: mapped,
      'function.name': mapped,
      'function.arguments': mapped,
      'function.parsed_arguments': ignored,
      custom: mapped,
      'custom.name': mapped,
      'custom.input': mapped,
      extra_content: mapped,
    }),
    tool_call_id: mapped,
    // Clients send answers back as they came, with what their SDK has added.
    'content.annotations': ignored,
    annotations: ignored,
    parsed: ignored,
    reasoning_content: signed,
    reasoning: signed,
    extra_content: mapped,
  }),
  tools: mapped,
  ...below('tools', {
    type: mapped,
    function: mapped,
  }),
  ...below('tools.function', {
    name: mapped,
    description: mapped,
    parameters: mapped,
    strict: { to: { generate: 'dropped' }, otherwise: 'kept', harmless: [false] },
  }),
  'tools.custom': { to: { responses: 'kept' }, otherwise: 'mapped', why: 'as a function with one text' },
  ...below('tools.custom', {
    name: mapped,
    description: mapped,
    format: { to: { responses: 'kept' }, otherwise: 'dropped', harmless: [{ type: 'text' }] },
  }),
  ...below('tools', {
    eager_input_streaming: ignored,
    cache_control: { to: { messages: 'mapped' }, otherwise: 'dropped' },
  }),
  tool_choice: mapped,
  functions: mapped,
  ...below('functions', {
    name: mapped,
    description: mapped,
    parameters: mapped,
  }),
  function_call: mapped,
  parallel_tool_calls: { to: { responses: 'kept', messages: 'mapped' }, otherwise: 'dropped', harmless: [true] },
  max_completion_tokens: mapped,
  max_tokens: mapped,
  temperature: { otherwise: 'mapped', why: 'dropped for models that refuse it' },
  top_p: { otherwise: 'mapped', why: 'dropped for models that refuse it' },
  frequency_penalty: { to: { generate: 'kept' }, otherwise: 'dropped', harmless: [0] },
  presence_penalty: { to: { generate: 'kept' }, otherwise: 'dropped', harmless: [0] },
  seed: { to: { generate: 'kept' }, otherwise: 'dropped' },
  logit_bias: { otherwise: 'dropped', harmless: [{}] },
  stop: { ...stopRow, harmless: [[], [''], ''] },
  n: refused('it gives one answer only', [1]),
  logprobs: { ...logprobsRow, harmless: [false] },
  top_logprobs: { ...logprobsRow, harmless: [0] },
  modalities: refused(noMeaning, [['text']]),
  audio: refused('it answers in text only'),
  stream: mapped,
  stream_options: mapped,
  'stream_options.include_usage': mapped,
  'stream_options.include_obfuscation': ignored,
  response_format: mapped,
  'response_format.type': mapped,
  'response_format.json_schema': mapped,
  ...below('response_format.json_schema', {
    name: { to: { responses: 'kept' }, otherwise: 'ignored' },
    description: { to: { responses: 'kept' }, otherwise: 'dropped' },
    schema: mapped,
    strict: { to: { responses: 'kept' }, otherwise: 'ignored' },
  }),
  reasoning_effort: { otherwise: 'mapped', why: 'as the nearest that the model has' },
  // As clients of OpenRouter and Snowflake, and of Z.ai and DeepSeek, write it.
  reasoning: mapped,
  ...below('reasoning', {
    effort: { otherwise: 'mapped', why: 'as the nearest that the model has' },
    max_tokens: { to: { responses: 'approximated' }, otherwise: 'mapped', why: 'as an effort' },
    enabled: mapped,
    exclude: { otherwise: 'dropped', harmless: [false] },
  }),
  thinking: mapped,
  ...below('thinking', {
    type: mapped,
    budget_tokens: { to: { responses: 'approximated' }, otherwise: 'mapped', why: 'as an effort' },
    clear_thinking: { otherwise: 'dropped', harmless: [false] },
  }),
  clear_thinking: { otherwise: 'dropped', harmless: [false] },
  // Groq's: beside the text is where it always stands.
  reasoning_format: { otherwise: 'dropped', harmless: ['parsed'] },
  // OpenRouter's: how much it costs is on the record.
  usage: ignored,
  // Not OpenAI's: by it a client asks for sealed reasoning, as in Responses.
  include: mapped,
  verbosity: { to: { responses: 'kept' }, otherwise: 'dropped', harmless: ['medium'] },
  prediction: { otherwise: 'ignored', why: 'it changes the speed only' },
  web_search_options: mapped,
  'web_search_options.search_context_size': { to: { responses: 'kept' }, otherwise: 'dropped', harmless: ['medium'] },
  'web_search_options.user_location': { to: { generate: 'dropped' }, otherwise: 'mapped' },
  moderation: dropped,
  user: { to: { generate: 'ignored' }, otherwise: 'mapped' },
  safety_identifier: { to: { generate: 'ignored' }, otherwise: 'mapped' },
  metadata: { to: { responses: 'kept' }, otherwise: 'dropped', harmless: [{}] },
  store: { to: { responses: 'kept' }, otherwise: 'dropped', harmless: [false] },
  service_tier: { to: { responses: 'kept', generate: 'mapped' }, otherwise: 'dropped', harmless: ['auto', 'default'] },
  prompt_cache_key: { to: { responses: 'kept' }, otherwise: 'ignored' },
  prompt_cache_options: dropped,
  prompt_cache_retention: dropped,
} satisfies FieldTable
