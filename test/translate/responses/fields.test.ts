import type {
  ResponseCreateParams,
  ResponseIncludable,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseTextConfig,
  Tool,
} from 'openai/resources/responses/responses'
import type { Reasoning } from 'openai/resources/shared'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/core/json-value.ts'
import { responsesFields } from '../../../src/translate/responses/fields.ts'
import { isAccountedFor, unsaidLosses } from '../../support/translate/field-check.ts'
import { type RequestOptions, translateRequest } from '../../support/translate/stage.ts'

/** The names of the members of a type, and of each of its alternatives. */
type Names<T> = T extends object ? { [Name in keyof T]-?: string extends Name ? never : Name }[keyof T] & string : never
type Item<T> = T extends readonly (infer Element)[] ? Element : never
type Rows = keyof typeof responsesFields
type Missing<T, Prefix extends string> = Exclude<`${Prefix}${Names<T>}`, Rows>
type MissingKinds<Kind extends string, Prefix extends string> = Exclude<`${Prefix}${Kind}`, Rows>

/** Does not compile while the SDK has members that the table does not name: give each of them a row. */
function hasRows<_Missing extends never>(): void {}

/** Items that are translated; the others have rows by their type. */
type ReadType =
  | 'message'
  | 'function_call'
  | 'custom_tool_call'
  | 'function_call_output'
  | 'custom_tool_call_output'
  | 'reasoning'
type AnyItem = ResponseInputItem | ResponseOutputItem
type ReadItem = Extract<AnyItem, { type?: ReadType }>
type Hosted =
  | 'web_search_call'
  | 'file_search_call'
  | 'code_interpreter_call'
  | 'image_generation_call'
  | 'mcp_list_tools'
  | 'mcp_call'
type OtherItems = Exclude<NonNullable<ResponseInputItem['type']>, ReadType | Hosted | 'additional_tools'>
type Content = Item<Exclude<Extract<ReadItem, { content: unknown }>['content'], string>>
type Output = Item<Exclude<Extract<ReadItem, { output: unknown }>['output'], string>>
type ReadTool = Extract<Tool, { type: 'function' | 'custom' | 'namespace' | `web_search${string}` }>
type Inner = Extract<Tool, { type: 'namespace' }>['tools'][number]
type Choice = Extract<ResponseCreateParams['tool_choice'], { type: 'function' | 'custom' | 'allowed_tools' }>

it('the table names every member of the SDK', () => {
  hasRows<Missing<ResponseCreateParams, ''>>()
  hasRows<Missing<ReadItem, 'input.'>>()
  hasRows<Missing<Content, 'input.content.'>>()
  hasRows<Missing<Output, 'input.output.'>>()
  hasRows<MissingKinds<OtherItems, 'input:'>>()
  hasRows<MissingKinds<ResponseIncludable, 'include:'>>()
  hasRows<Missing<ReadTool, 'tools.'>>()
  hasRows<Missing<ReadTool, 'input.tools.'>>()
  hasRows<Missing<Inner, 'tools.tools.'>>()
  hasRows<Missing<Inner, 'input.tools.tools.'>>()
  hasRows<MissingKinds<Exclude<Tool['type'], ReadTool['type']>, 'tools:'>>()
  hasRows<Missing<Choice, 'tool_choice.'>>()
  hasRows<Missing<Reasoning, 'reasoning.'>>()
  hasRows<Missing<ResponseTextConfig, 'text.'>>()
  hasRows<Missing<NonNullable<ResponseTextConfig['format']>, 'text.format.'>>()
  hasRows<Missing<ResponseCreateParams.StreamOptions, 'stream_options.'>>()
})

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
const bodies: readonly JsonObject[] = [
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
    text: {
      verbosity: 'low',
      format: { type: 'json_schema', name: 'n', description: 'd', strict: true, schema: { type: 'object' } },
    },
  },
  {
    model: 'm',
    input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'f' }] }, user],
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

const fields = Object.keys(responsesFields)
const targets: ['chat' | 'messages' | 'generate', RequestOptions][] = [
  ['chat', { model: 'gpt-5.2' }],
  ['messages', { model: 'claude-opus-4-7' }],
  ['generate', { model: 'gemini-3-pro' }],
]

describe.each(targets)('to %s every field is kept, listed or refused', (to, options) => {
  // Added tools are read like the others; whether it streams is in Gemini's URL.
  const own = fields.filter((field) => !/:|^input\.tools\./.test(field) && !(to === 'generate' && field === 'stream'))
  it.each(own)('%s', (field) => {
    expect(isAccountedFor('responses', to, field, bodies, options)).toBe(true)
  })

  it.each(fields.filter((field) => /^(?:tools|input):/.test(field) && !/unknown|hosted/.test(field)))('%s', (field) => {
    const [name = '', type] = field.split(':')
    const path = name === 'tools' ? 'tools[0].type' : 'input[1].type'
    const body =
      name === 'tools' ? { ...plain, tools: [{ type, name: 'n' }] } : { model: 'm', input: [user, { type, id: 'i' }] }
    const { refused } = translateRequest('responses', to, JSON.stringify(body), options)
    expect(refused?.param).toBe(path)
  })

  it('kinds that nobody knows yet are refused, calls of hosted tools listed', () => {
    const refusedAt = (body: JsonObject) =>
      translateRequest('responses', to, JSON.stringify(body), options).refused?.param
    expect(refusedAt({ ...plain, tools: [{ type: 'telepathy' }] })).toBe('tools[0].type')
    expect(refusedAt({ ...plain, input: [user, { type: 'telepathy_call' }] })).toBe('input[1].type')
    expect(refusedAt({ ...plain, input: [{ role: 'user', content: [{ type: 'smell' }] }] })).toBe('input[0].content[0]')
    expect(refusedAt({ ...plain, tools: [{ type: 'function', name: 'f' }], tool_choice: { type: 'mcp' } })).toBe(
      'tool_choice.type',
    )
    const asking = { ...plain, include: ['message.output_text.logprobs'] }
    expect(refusedAt(asking)).toBe(to === 'messages' ? 'include[0]' : undefined)
    const history = [
      user,
      { type: 'web_search_call', id: 'ws_1', action: {} },
      { role: 'assistant', content: 'y' },
      user,
    ]
    const { losses } = translateRequest('responses', to, JSON.stringify({ model: 'm', input: history }), options)
    expect(losses).toEqual(['input[1]'])
  })
})

describe('what is lost is in the table', () => {
  it.each(targets.map(([to]) => to))('at models of %s', (to) => {
    expect(unsaidLosses('responses', to, bodies)).toEqual([])
  })
})
