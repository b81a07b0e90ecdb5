import type { JsonObject } from '../../../src/core/json/json-value.ts'

const png = 'data:image/png;base64,iVBORw0KGgo='

/** Requests that have every field of the table among them, with values that ask for something. */
export const chatBodies: readonly JsonObject[] = [
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
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', closed: true }], prefix: true },
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
  ...[
    { type: 'document_url', document_url: 'data:application/pdf;base64,JVBERi0=', document_name: 'a.pdf' },
    { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } },
    { type: 'audio_url', audio_url: { url: 'data:audio/wav;base64,AAAA' } },
  ].map((part) => ({ model: 'm', messages: [{ role: 'user', content: [part] }] })),
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
    { reasoning: { effort: 'low', exclude: true } },
    { reasoning: { max_tokens: 1024 } },
    { reasoning: { enabled: true } },
    { reasoning: { enabled: false } },
    { thinking: { type: 'enabled' } },
    { thinking: { type: 'disabled' } },
    { thinking: { budget_tokens: 1024, clear_thinking: true } },
    { clear_thinking: true },
    { reasoning_format: 'raw' },
    { usage: { include: true } },
    { tools: [{ type: 'function', function: { name: 'f' }, eager_input_streaming: true }] },
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

const cited = { type: 'text', text: 'E', citations: [{ type: 'char_location' }], ...marked }
/** What stands within a document. */
const within = [
  { type: 'text', text: 'D', citations: [{ type: 'char_location' }] },
  {
    type: 'image',
    source: { type: 'base64', media_type: 'image/webp', data: 'AAAA' },
    transformations: { oversized_image: 'error' },
    ...marked,
  },
]
const ownTool = {
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
}
const webSearches = [
  { type: 'web_search_20260318', user_location: { type: 'approximate', city: 'Oslo' }, response_inclusion: 'excluded' },
  { max_uses: 1 },
  { allowed_domains: ['e.com'] },
  { blocked_domains: ['e.com'] },
  { configs: {} },
  { citations: { enabled: true } },
  { max_characters: 1 },
  { max_content_tokens: 1 },
  { url_sources: {} },
  { use_cache: false },
  { model: 'm' },
  { max_tokens: 5 },
  { mcp_server_name: 's' },
].map((member) => ({ type: 'web_search_20250305', name: 'web_search', ...member }))
const added = (tool: JsonObject) => ({
  ...question,
  messages: [
    { role: 'user', content: 'x' },
    { role: 'system', content: [{ type: 'tool_addition', tool, ...marked }] },
  ],
})

/** The same of messages. */
export const messagesBodies: readonly JsonObject[] = [
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
            source: { type: 'content', content: within },
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
                source: { type: 'content', content: within },
              },
              { type: 'search_result', source: 's', title: 'T', content: [cited] },
              { type: 'tool_reference', tool_name: 't' },
              { type: 'browser_state', tabs: [], state_changes: [] },
            ],
          },
        ],
      },
    ],
    tools: [ownTool, { name: 'g', input_schema: { type: 'object' } }],
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
  ...webSearches.map((tool) => ({ ...question, tools: [tool] })),
  ...[ownTool, ...webSearches].map((definition) => added({ type: 'tool_definition', definition })),
  { ...added({ type: 'tool_reference', name: 't' }), tools: [{ name: 't', input_schema: {} }] },
  added({ type: 'mcp_tool_reference', name: 't', server_name: 's' }),
  { ...question, container: 'c' },
  { ...question, compaction: {} },
  { ...question, thread: { type: 'continue', previous_message_id: 'msg_1' } },
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
