import {
  dropped,
  type FieldRow,
  type FieldTable,
  ignored,
  logprobsRow,
  mapped,
  refused,
  shownUnasked,
} from '../field-table.ts'
import { storedElsewhere } from '../media-type.ts'

/** Chat has the same member. */
const sameInChat = (row: FieldRow): FieldRow => ({ ...row, to: { ...row.to, chat: 'kept' } })

const hosted = (what: string) => refused(`${what} runs at OpenAI, and no other provider has it`)
const state = refused('it refers to what another provider has stored; send the whole conversation')
const storedFile: FieldRow = {
  otherwise: 'refused',
  to: { chat: 'mapped' },
  why: storedElsewhere,
}

/** Members of the content of messages, and of what tools give back. */
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
  detail: { otherwise: 'ignored', to: { chat: 'kept', generate: 'mapped' } },
  prompt_cache_breakpoint: { otherwise: 'dropped', to: { chat: 'kept', messages: 'mapped' } },
  // Clients send answers back as they came.
  annotations: ignored,
  logprobs: ignored,
} as const satisfies FieldTable

/** Functions, and tools with a text: they may stand in a namespace. */
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
  external_web_access: { otherwise: 'approximated', harmless: [true] },
} as const satisfies FieldTable

const inNamespace = { otherwise: 'mapped', why: 'one by one, with the namespace in their names' } as const

/** The same rows below another member. */
function below<Prefix extends string, Rows extends FieldTable>(prefix: Prefix, rows: Rows) {
  const named = Object.entries(rows).map(([name, row]) => [`${prefix}.${name}`, row])
  return Object.fromEntries(named) as { [Name in keyof Rows & string as `${Prefix}.${Name}`]: FieldRow }
}

/** Every member of a request, and (with a colon) every kind of item, tool and included data that is handled as a whole. */
export const responsesFields = {
  access_programs: dropped,
  background: refused('answers in the background need a provider that stores them', [false]),
  // Codex sends it, for OpenAI's own records.
  client_metadata: ignored,
  context_management: dropped,
  conversation: state,
  image: dropped,
  include: ignored,
  'include:reasoning.encrypted_content': mapped,
  'include:message.output_text.logprobs': logprobsRow,
  'include:file_search_call.results': ignored,
  'include:web_search_call.results': dropped,
  'include:web_search_call.action.sources': dropped,
  'include:message.input_image.image_url': ignored,
  'include:computer_call_output.output.image_url': ignored,
  'include:code_interpreter_call.outputs': ignored,
  'include:unknown': dropped,
  input: mapped,
  'input.type': mapped,
  'input.id': ignored,
  'input.role': mapped,
  'input.status': ignored,
  'input.phase': dropped,
  'input.content': mapped,
  ...below('input.content', content),
  'input.content:unknown': refused('this kind of content is unknown'),
  'input.call_id': mapped,
  'input.name': mapped,
  'input.namespace': { otherwise: 'mapped', why: 'as a part of the name' },
  'input.arguments': mapped,
  'input.input': mapped,
  'input.async': { otherwise: 'dropped', harmless: [false] },
  'input.caller': refused('the call was made by a program that runs at OpenAI', [{ type: 'direct' }]),
  'input.output': mapped,
  ...below('input.output', content),
  'input.summary': mapped,
  'input.encrypted_content': mapped,
  'input.created_by': ignored,
  'input:hosted_call': dropped,
  'input:item_reference': state,
  'input:compaction': refused('only OpenAI can read a compacted conversation'),
  'input:compaction_trigger': refused('only OpenAI compacts conversations'),
  'input:configuration_update': refused('settings cannot change in the midst of a conversation'),
  // They are known from the beginning.
  'input.tools': { otherwise: 'approximated' },
  ...below('input.tools', tool),
  'input.tools.tools': inNamespace,
  ...below('input.tools.tools', callable),
  'input:tool_search_call': hosted('tool search'),
  'input:tool_search_output': hosted('tool search'),
  'input:computer_call': hosted('computer use'),
  'input:computer_call_output': hosted('computer use'),
  'input:local_shell_call': hosted('the local shell tool'),
  'input:local_shell_call_output': hosted('the local shell tool'),
  'input:shell_call': hosted('the shell tool'),
  'input:shell_call_output': hosted('the shell tool'),
  'input:apply_patch_call': hosted('the patch tool'),
  'input:apply_patch_call_output': hosted('the patch tool'),
  'input:mcp_approval_request': hosted('the MCP tool'),
  'input:mcp_approval_response': hosted('the MCP tool'),
  'input:program': hosted('programmatic tool calling'),
  'input:program_output': hosted('programmatic tool calling'),
  'input:unknown': refused('this kind of item is unknown'),
  instructions: mapped,
  max_output_tokens: mapped,
  // Only hosted tools are counted, and of these only a search is translated.
  max_tool_calls: { otherwise: 'refused', to: { messages: 'mapped' }, why: 'it does not limit how often it searches' },
  metadata: sameInChat(dropped),
  model: mapped,
  moderation: dropped,
  parallel_tool_calls: { otherwise: 'dropped', to: { chat: 'kept', messages: 'mapped' }, harmless: [true] },
  previous_response_id: state,
  prompt: state,
  prompt_cache_key: sameInChat(ignored),
  prompt_cache_options: { otherwise: 'dropped', harmless: [{ mode: 'implicit' }] },
  prompt_cache_retention: { otherwise: 'dropped', harmless: ['in_memory'] },
  reasoning: mapped,
  'reasoning.effort': mapped,
  'reasoning.summary': { ...mapped, why: shownUnasked },
  'reasoning.generate_summary': { otherwise: 'mapped', to: { chat: 'ignored' } },
  'reasoning.context': { otherwise: 'dropped', harmless: ['auto'] },
  'reasoning.mode': { otherwise: 'dropped', harmless: ['standard'] },
  safety_identifier: { otherwise: 'ignored', to: { chat: 'kept', messages: 'mapped' } },
  service_tier: { otherwise: 'mapped', to: { chat: 'kept', messages: 'dropped' }, harmless: ['auto', 'default'] },
  store: { otherwise: 'dropped', harmless: [false] },
  stream: mapped,
  stream_options: ignored,
  'stream_options.include_obfuscation': ignored,
  temperature: mapped,
  text: mapped,
  'text.format': mapped,
  'text.format.type': mapped,
  'text.format.name': sameInChat(ignored),
  'text.format.description': sameInChat(dropped),
  'text.format.schema': mapped,
  // The others always hold the model to the schema.
  'text.format.strict': sameInChat(ignored),
  'text.verbosity': { otherwise: 'dropped', to: { chat: 'kept' }, harmless: ['medium'] },
  tool_choice: mapped,
  'tool_choice.type': mapped,
  'tool_choice.name': mapped,
  'tool_choice.mode': mapped,
  'tool_choice.tools': mapped,
  'tool_choice:hosted': refused('the choice is of a tool that runs at OpenAI'),
  tools: mapped,
  ...below('tools', tool),
  'tools.tools': inNamespace,
  ...below('tools.tools', callable),
  'tools:file_search': hosted('file search'),
  'tools:computer': hosted('computer use'),
  'tools:computer_use_preview': hosted('computer use'),
  'tools:mcp': hosted('the MCP tool'),
  'tools:code_interpreter': hosted('the code interpreter'),
  'tools:programmatic_tool_calling': hosted('programmatic tool calling'),
  'tools:image_generation': hosted('image generation'),
  'tools:local_shell': hosted('the local shell tool'),
  'tools:shell': hosted('the shell tool'),
  'tools:tool_search': hosted('tool search'),
  'tools:apply_patch': hosted('the patch tool'),
  'tools:unknown': refused('this kind of tool is unknown'),
  top_logprobs: { ...logprobsRow, harmless: [0] },
  top_p: mapped,
  truncation: { otherwise: 'dropped', harmless: ['disabled'] },
  user: sameInChat({ otherwise: 'ignored', to: { messages: 'mapped' } }),
} as const satisfies FieldTable
