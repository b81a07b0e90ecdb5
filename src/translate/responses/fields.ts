import {
  below,
  dropped,
  type FieldRow,
  type FieldTable,
  ignored,
  logprobsRow,
  mapped,
  refused,
  shownUnasked,
  typed,
  vendorSearch,
} from '../field-table.ts'
import { storedElsewhere } from '../media-type.ts'

/** Chat has the same member. */
const sameInChat = (row: FieldRow): FieldRow => ({ ...row, to: { ...row.to, chat: 'kept' } })

const hosted = (what: string) => refused(`${what} runs at OpenAI, and no other provider has it`)
/** The client runs it; only OpenAI's models know its definition. */
const own = (what: string) => refused(`${what} is known to OpenAI's models only; declare a function for it`)
const computer = own('computer use')
const localShell = own('the local shell tool')
const shell = own('the shell tool')
const patch = own('the patch tool')
const mcp = hosted('the MCP tool')
const program = hosted('programmatic tool calling')
const state = refused('it refers to what another provider has stored; send the whole conversation')
const storedFile: FieldRow = {
  otherwise: 'refused',
  to: { chat: 'mapped' },
  why: storedElsewhere,
}

/** Members of the content of messages and tool results. */
const content = {
  type: mapped,
  text: mapped,
  refusal: mapped,
  image_url: mapped,
  file_data: mapped,
  file_url: mapped,
  file_id: storedFile,
  filename: { otherwise: 'mapped', to: { generate: 'dropped' } },
  input_audio: mapped,
  'input_audio.data': mapped,
  'input_audio.format': typed('t'),
  detail: { otherwise: 'ignored', to: { chat: 'kept', generate: 'mapped' } },
  prompt_cache_breakpoint: { otherwise: 'dropped', to: { chat: 'kept', messages: 'mapped' } },
  // Clients send answers back as they came.
  annotations: ignored,
  logprobs: ignored,
} as const satisfies FieldTable

/** Functions and custom tools, which may be in a namespace. */
const callable = {
  type: mapped,
  name: mapped,
  description: mapped,
  parameters: mapped,
  strict: { otherwise: 'kept', to: { generate: 'dropped' }, harmless: [false] },
  format: { otherwise: 'approximated', to: { chat: 'kept' }, harmless: [{ type: 'text' }] },
  allowed_callers: refused('only OpenAI runs programs that call tools', [['direct']]),
  async: { otherwise: 'dropped', harmless: [false] },
  defer_loading: { otherwise: 'approximated', harmless: [false] },
  output_schema: dropped,
} as const satisfies FieldTable

const tool = {
  ...callable,
  filters: { otherwise: 'ignored', to: { messages: 'mapped' } },
  'filters.allowed_domains': {
    otherwise: 'refused',
    to: { messages: 'mapped' },
    why: 'its web search cannot be restricted to domains',
  },
  user_location: { otherwise: 'mapped', to: { generate: 'dropped' } },
  search_context_size: { otherwise: 'dropped', to: { chat: 'kept' }, harmless: ['medium'] },
  search_content_types: { otherwise: 'dropped', harmless: [['text']] },
  execution: mapped,
  external_web_access: { otherwise: 'approximated', harmless: [true] },
} as const satisfies FieldTable

const inNamespace = { otherwise: 'mapped', why: 'one by one, with the namespace in their names' } as const

/** Every member of a request, and (with a colon) every kind of item, tool and included data that is handled as a whole. */
export const responsesFields = {
  access_programs: dropped,
  background: refused('answers in the background need a provider that stores them', [false]),
  background_options: { otherwise: 'dropped', harmless: [{ completion_window: 'soonest' }] },
  // Codex sends it, for OpenAI's own records.
  client_metadata: ignored,
  context_management: dropped,
  conversation: state,
  image: dropped,
  include: { ...ignored, type: 'T' },
  'include:reasoning.encrypted_content': mapped,
  'include:message.output_text.logprobs': logprobsRow,
  'include:file_search_call.results': ignored,
  'include:web_search_call.results': dropped,
  'include:web_search_call.action.sources': dropped,
  'include:message.input_image.image_url': ignored,
  'include:computer_call_output.output.image_url': ignored,
  'include:code_interpreter_call.outputs': ignored,
  'include:unknown': dropped,
  input: typed('tO'),
  ...below('input', {
    type: mapped,
    id: ignored,
    role: mapped,
    status: ignored,
    phase: {
      otherwise: 'dropped',
      harmless: ['final_answer'],
      why: 'of a comment on the way; where a call follows, its place says the same',
    },
    content: mapped,
    ...below('content', content),
    'content:unknown': refused('this kind of content is unknown'),
    call_id: mapped,
    name: mapped,
    namespace: { otherwise: 'mapped', why: 'as a part of the name' },
    arguments: typed('to'),
    execution: mapped,
    input: mapped,
    async: { otherwise: 'dropped', harmless: [false] },
    caller: refused('the call was made by a program that runs at OpenAI', [{ type: 'direct' }]),
    output: mapped,
    ...below('output', content),
    summary: typed('O'),
    encrypted_content: mapped,
    created_by: ignored,
  }),
  'input:hosted_call': dropped,
  'input:image_generation_call': { otherwise: 'dropped', to: { generate: 'mapped' } },
  'input:item_reference': state,
  'input:compaction': refused('only OpenAI can read a compacted conversation'),
  'input:compaction_trigger': refused('only OpenAI compacts conversations'),
  'input:configuration_update': refused('settings cannot change in the middle of a conversation'),
  // Elsewhere these tools are available from the beginning.
  'input.tools': { otherwise: 'approximated' },
  ...below('input.tools', tool),
  'input.tools.tools': inNamespace,
  ...below('input.tools.tools', callable),
  // Said of the list.
  'input.tools.defer_loading': ignored,
  'input.tools.tools.defer_loading': ignored,
  'input:tool_search_call': dropped,
  'input:tool_search_output': dropped,
  'input:computer_call': computer,
  'input:computer_call_output': computer,
  'input:local_shell_call': localShell,
  'input:local_shell_call_output': localShell,
  'input:shell_call': shell,
  'input:shell_call_output': shell,
  'input:apply_patch_call': patch,
  'input:apply_patch_call_output': patch,
  'input:mcp_approval_request': mcp,
  'input:mcp_approval_response': mcp,
  'input:program': program,
  'input:program_output': program,
  'input:unknown': refused('this kind of item is unknown'),
  instructions: mapped,
  max_output_tokens: mapped,
  // The limit counts hosted tools only, and of those only search is translated.
  max_tool_calls: { otherwise: 'refused', to: { messages: 'mapped' }, why: 'it does not limit how often it searches' },
  metadata: { otherwise: 'dropped', harmless: [{}] },
  model: mapped,
  moderation: dropped,
  parallel_tool_calls: { otherwise: 'dropped', to: { chat: 'kept', messages: 'mapped' }, harmless: [true] },
  previous_response_id: state,
  prompt: state,
  prompt_cache_key: sameInChat(ignored),
  prompt_cache_options: { otherwise: 'dropped', harmless: [{ mode: 'implicit' }] },
  prompt_cache_retention: { otherwise: 'dropped', harmless: ['in_memory'] },
  reasoning: mapped,
  ...below('reasoning', {
    effort: mapped,
    summary: { ...mapped, why: shownUnasked },
    generate_summary: { otherwise: 'mapped', to: { chat: 'ignored' } },
    context: { otherwise: 'dropped', harmless: ['auto'] },
    mode: { otherwise: 'dropped', harmless: ['standard'] },
  }),
  safety_identifier: { otherwise: 'ignored', to: { chat: 'kept', messages: 'mapped' } },
  service_tier: { otherwise: 'mapped', to: { chat: 'kept', messages: 'dropped' }, harmless: ['auto', 'default'] },
  store: { otherwise: 'dropped', harmless: [false] },
  stream: mapped,
  stream_options: ignored,
  'stream_options.include_obfuscation': ignored,
  temperature: mapped,
  text: typed('o'),
  'text.format': mapped,
  ...below('text.format', {
    type: mapped,
    name: sameInChat(ignored),
    description: sameInChat(dropped),
    schema: mapped,
    // The other formats always make the model follow the schema.
    strict: sameInChat(ignored),
  }),
  'text.verbosity': { otherwise: 'dropped', to: { chat: 'kept' }, harmless: ['medium'] },
  tool_choice: mapped,
  ...below('tool_choice', {
    type: mapped,
    name: mapped,
    mode: mapped,
    tools: mapped,
  }),
  'tool_choice:hosted': refused('the choice is of a tool that runs at OpenAI'),
  tools: mapped,
  ...below('tools', tool),
  'tools.tools': inNamespace,
  ...below('tools.tools', callable),
  'tools:file_search': hosted('file search'),
  'tools:computer': computer,
  'tools:computer_use_preview': computer,
  'tools:mcp': mcp,
  'tools:code_interpreter': hosted('the code interpreter'),
  'tools:programmatic_tool_calling': program,
  'tools:image_generation': {
    otherwise: 'refused',
    to: { generate: 'mapped' },
    why: "only OpenAI and Gemini's models for images have image generation",
  },
  'tools:local_shell': localShell,
  'tools:shell': shell,
  // With `execution: client` it is a function.
  'tools:tool_search': vendorSearch,
  'tools:apply_patch': patch,
  'tools:unknown': refused('this kind of tool is unknown'),
  top_logprobs: { ...logprobsRow, harmless: [0] },
  top_p: mapped,
  truncation: { otherwise: 'dropped', harmless: ['disabled'] },
  user: sameInChat({ otherwise: 'ignored', to: { messages: 'mapped' } }),
} as const satisfies FieldTable
