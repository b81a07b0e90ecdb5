import {
  below,
  dropped,
  effortRow,
  type FieldRow,
  type FieldTable,
  ignored,
  logprobsRow,
  mapped,
  refused,
  samplingRow,
  stopRow,
  typed,
} from '../field-table.ts'
import { storedFile } from '../media-type.ts'

const asEffort: FieldRow = { to: { responses: 'approximated' }, otherwise: 'mapped', why: 'as an effort' }

const noMeaning = 'it changes what the answer holds'

const signed: FieldRow = {
  otherwise: 'mapped',
  why: 'only with its signature; without one it is listed, and refused by no route',
}

/** Only Gemini accepts it. */
function refusedMedia(what: string): FieldRow {
  return { to: { messages: 'refused', responses: 'refused' }, otherwise: 'mapped', why: `it accepts no ${what}` }
}

/** Every member of a chat completions request, and what becomes of it in the other formats. */
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
      'input_audio.data': mapped,
      'input_audio.format': typed('t'),
      file: mapped,
      'file.file_data': mapped,
      'file.file_id': {
        to: { responses: 'kept' },
        otherwise: 'refused',
        why: storedFile,
      },
      'file.filename': { to: { generate: 'dropped' }, otherwise: 'mapped' },
      // Used by other servers: Mistral, OpenRouter, vLLM.
      document_url: mapped,
      document_name: { to: { generate: 'dropped' }, otherwise: 'mapped' },
      video_url: refusedMedia('video'),
      'video_url.url': mapped,
      audio_url: refusedMedia('audio'),
      'audio_url.url': mapped,
      thinking: { ...signed, type: 'tO' },
      closed: ignored,
      prompt_cache_breakpoint: { to: { responses: 'kept', messages: 'mapped' }, otherwise: 'dropped' },
      // Members of Anthropic's format that clients send in OpenAI's.
      cache_control: { to: { responses: 'mapped', messages: 'mapped' }, otherwise: 'dropped' },
    }),
    cache_control: { to: { responses: 'mapped', messages: 'mapped' }, otherwise: 'dropped' },
    'tool_calls.cache_control': { to: { messages: 'mapped' }, otherwise: 'dropped' },
    name: { otherwise: 'dropped', why: 'messages have no names there' },
    refusal: mapped,
    // Mistral's: the answer continues from here.
    prefix: { otherwise: 'dropped', harmless: [false] },
    audio: refused('audio of an earlier answer is only known to its provider'),
    function_call: typed('o'),
    'function_call.name': mapped,
    'function_call.arguments': mapped,
    tool_calls: mapped,
    ...below('tool_calls', {
      id: mapped,
      type: mapped,
      index: ignored,
      function: mapped,
      'function.name': mapped,
      'function.arguments': typed('to'),
      'function.parsed_arguments': ignored,
      custom: mapped,
      'custom.name': mapped,
      'custom.input': mapped,
      extra_content: mapped,
    }),
    tool_call_id: mapped,
    // Clients send answers back unchanged, including members that their SDK added.
    'content.annotations': ignored,
    annotations: ignored,
    parsed: ignored,
    reasoning_content: signed,
    reasoning: { ...signed, type: 't' },
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
  temperature: samplingRow,
  top_p: samplingRow,
  frequency_penalty: { to: { generate: 'kept' }, otherwise: 'dropped', harmless: [0] },
  presence_penalty: { to: { generate: 'kept' }, otherwise: 'dropped', harmless: [0] },
  seed: { to: { generate: 'kept' }, otherwise: 'dropped' },
  logit_bias: { otherwise: 'dropped', harmless: [{}] },
  stop: { ...stopRow, harmless: [[], [''], ''] },
  n: refused('it gives one answer only', [1]),
  logprobs: { ...logprobsRow, harmless: [false], type: 'b' },
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
  reasoning_effort: effortRow,
  // Forms used by clients of OpenRouter, Snowflake, Z.ai and DeepSeek.
  reasoning: mapped,
  ...below('reasoning', {
    effort: effortRow,
    max_tokens: asEffort,
    enabled: mapped,
    exclude: { otherwise: 'dropped', harmless: [false] },
  }),
  thinking: mapped,
  ...below('thinking', {
    type: mapped,
    budget_tokens: asEffort,
    clear_thinking: { otherwise: 'dropped', harmless: [false] },
  }),
  clear_thinking: { otherwise: 'dropped', harmless: [false] },
  // Groq's. Beside the text is where other formats always have reasoning.
  reasoning_format: { otherwise: 'dropped', harmless: ['parsed'] },
  // OpenRouter's. The cost is on the record.
  usage: ignored,
  // Not OpenAI's: here, as in Responses, clients ask for sealed reasoning with it.
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
