import type { JsonObject } from '../../../src/core/json/json-value.ts'

const png = 'data:image/png;base64,iVBORw0KGgo='
const user = { role: 'user', content: 'x' }
const plain = { model: 'm', input: [user] }
const breakpoint = { mode: 'explicit', ttl: '30m' }

const content = [
  { type: 'input_text', text: 'A', prompt_cache_breakpoint: breakpoint },
  { type: 'input_image', image_url: png, detail: 'low' },
  { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
]

const callable = [
  {
    type: 'function',
    name: 'f',
    description: 'd',
    parameters: { type: 'object', properties: { x: {} } },
    strict: true,
    async: true,
    defer_loading: true,
    output_schema: {},
  },
  { type: 'custom', name: 'g', description: 'd', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
]

/** Requests that have every field of the table among them, with values that ask for something. */
export const responsesBodies: readonly JsonObject[] = [
  {
    model: 'm',
    instructions: 'I',
    stream: true,
    stream_options: { include_obfuscation: false },
    client_metadata: { a: 'b' },
    access_programs: { cyber: 'standard' },
    context_management: [{ type: 'compaction' }],
    image: { context_compression: 'enabled' },
    include: ['web_search_call.results'],
    input: [
      { type: 'message', id: 'msg_1', status: 'completed', role: 'user', content },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'S' }],
        encrypted_content: 'gAAA',
        created_by: 'u',
      },
      {
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        content: [
          { type: 'output_text', text: 'T', annotations: [{ type: 'file_path' }], logprobs: [] },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}', async: true },
      { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'text' },
      { type: 'function_call_output', call_id: 'a', output: content },
      { type: 'custom_tool_call_output', call_id: 'b', output: 's' },
      // Before a call its place says the same.
      { type: 'message', role: 'assistant', phase: 'commentary', content: 'T' },
      { type: 'message', role: 'user', content: 'U' },
    ],
    tools: [...callable, { type: 'namespace', name: 'n', description: 'd', tools: callable }],
    tool_choice: { type: 'function', name: 'f' },
    parallel_tool_calls: false,
    max_output_tokens: 100,
    temperature: 0.5,
    metadata: { a: 'b' },
    moderation: { model: 'm' },
    prompt_cache_key: 'k',
    prompt_cache_options: { mode: 'explicit' },
    prompt_cache_retention: '24h',
    reasoning: { effort: 'low', summary: 'auto', context: 'all_turns', mode: 'pro' },
    safety_identifier: 'u',
    service_tier: 'flex',
    store: true,
    truncation: 'auto',
    background_options: { completion_window: '2h', continuation_id: 'c' },
    text: {
      verbosity: 'low',
      format: { type: 'json_schema', name: 'n', description: 'd', strict: true, schema: { type: 'object' } },
    },
  },
  {
    model: 'm',
    input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f' }] }, user],
  },
  {
    ...plain,
    input: [user, { type: 'tool_search_call', call_id: 'a', execution: 'client', arguments: { q: 'x' } }],
    tools: [{ type: 'tool_search', execution: 'client', description: 'd', parameters: { type: 'object' } }],
  },
  { ...plain, top_p: 0.5, user: 'u', reasoning: { effort: 'low', generate_summary: 'auto' } },
  {
    ...plain,
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object', properties: { x: {} } } },
      { type: 'function', name: 'g', parameters: { type: 'object', properties: { x: {} } } },
      { type: 'function', name: 'h', parameters: { type: 'object', properties: { x: {} } } },
    ],
    tool_choice: {
      type: 'allowed_tools',
      mode: 'required',
      tools: [
        { type: 'function', name: 'f' },
        { type: 'function', name: 'g' },
      ],
    },
  },
  { ...plain, tools: [{ type: 'web_search', filters: { allowed_domains: ['e.com'] } }] },
  {
    ...plain,
    max_tool_calls: 3,
    tools: [
      {
        type: 'web_search',
        search_context_size: 'low',
        user_location: { type: 'approximate', city: 'Oslo' },
        external_web_access: false,
        search_content_types: ['image'],
      },
    ],
  },
  {
    ...plain,
    tools: [{ type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Oslo' } }],
  },
  {
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }],
  },
  { model: 'm', input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
  { model: 'm', input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://e.example/a.pdf' }] }] },
  ...[
    { type: 'input_file', file_url: 'https://e.example/a.pdf' },
    { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
    { type: 'input_image', file_id: 'file-1' },
    { type: 'refusal', refusal: 'no' },
    { type: 'output_text', text: 'T', annotations: [{ type: 'file_path' }], logprobs: [] },
  ].map((part) => ({
    model: 'm',
    input: [
      user,
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: [part] },
    ],
  })),
  { model: 'm', input: [user, { type: 'function_call', call_id: 'a', name: 'f', namespace: 'n', arguments: '{}' }] },
  {
    model: 'm',
    input: [user, { type: 'function_call', call_id: 'a', name: 'f', caller: { type: 'program' }, arguments: '{}' }],
  },
  { ...plain, tools: [{ type: 'function', name: 'f', allowed_callers: ['programmatic'] }] },
  {
    ...plain,
    tools: [
      { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f', allowed_callers: ['programmatic'] }] },
    ],
  },
  ...[
    { background: true },
    { conversation: 'c' },
    { previous_response_id: 'r' },
    { prompt: { id: 'p' } },
    { top_logprobs: 2 },
  ].map((member) => ({ ...plain, ...member })),
]
