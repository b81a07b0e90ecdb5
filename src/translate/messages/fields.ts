import {
  below,
  dropped,
  effortRow,
  type FieldRow,
  type FieldTable,
  ignored,
  mapped,
  refused,
  samplingRow,
  shownUnasked,
  stopRow,
  typed,
  vendorSearch,
} from '../field-table.ts'
import { storedFile } from '../media-type.ts'

const hosted: FieldRow = { otherwise: 'dropped', why: 'it is a member of a tool that only Anthropic hosts' }

/** Gemini has none. */
const elsewhere: FieldRow = { to: { generate: 'dropped' }, otherwise: 'mapped' }

/** Blocks of the history, which may also be inside tool results and search results. */
const block = {
  type: mapped,
  text: mapped,
  cache_control: elsewhere,
  citations: { otherwise: 'dropped', harmless: [[], { enabled: false }] },
  source: mapped,
  'source.type': mapped,
  'source.media_type': mapped,
  'source.data': mapped,
  'source.url': mapped,
  'source.content': mapped,
  'source.file_id': refused(storedFile),
  title: mapped,
  context: dropped,
  transformations: { otherwise: 'dropped', harmless: [{ oversized_image: 'downsize' }] },
} satisfies FieldTable

/** Members inside a search result. */
const innerText = {
  type: ignored,
  text: mapped,
  cache_control: elsewhere,
  citations: { otherwise: 'dropped', harmless: [[], { enabled: false }] },
} satisfies FieldTable

/** Members inside a document. */
const inner = {
  ...innerText,
  type: mapped,
  source: mapped,
  transformations: { otherwise: 'dropped', harmless: [{ oversized_image: 'downsize' }] },
} satisfies FieldTable

const tool = {
  type: mapped,
  name: mapped,
  description: mapped,
  input_schema: mapped,
  strict: { to: { generate: 'dropped' }, otherwise: 'kept', harmless: [false] },
  cache_control: dropped,
  allowed_callers: { otherwise: 'dropped', harmless: [['direct']] },
  defer_loading: { otherwise: 'dropped', harmless: [false] },
  eager_input_streaming: ignored,
  input_examples: { otherwise: 'dropped', harmless: [[]] },
  max_uses: mapped,
  allowed_domains: mapped,
  blocked_domains: mapped,
  user_location: elsewhere,
  response_inclusion: { otherwise: 'dropped', harmless: ['full'] },
  configs: hosted,
  citations: hosted,
  max_characters: hosted,
  max_content_tokens: hosted,
  url_sources: hosted,
  use_cache: hosted,
  model: hosted,
  max_tokens: hosted,
  mcp_server_name: hosted,
} satisfies FieldTable

/** Every member of an Anthropic messages request, and what becomes of it in the other formats. */
export const messagesFields = {
  model: mapped,
  max_tokens: mapped,
  'max_tokens:0': refused('it fills no cache without an answer'),
  messages: mapped,
  'messages.role': mapped,
  'messages.content': mapped,
  ...below('messages.content', {
    ...block,
    thinking: {
      otherwise: 'mapped',
      why: 'only to the provider whose signature it has; without one it is listed, and refused by no route',
      type: 't',
    },
    signature: { otherwise: 'mapped', why: 'only to the provider whose signature it is' },
    data: mapped,
    id: mapped,
    name: mapped,
    input: typed('o'),
    caller: ignored,
    toolset_name: hosted,
    tool_use_id: mapped,
    is_error: {
      to: { generate: 'mapped' },
      otherwise: 'approximated',
      harmless: [false],
      why: 'as `Error: ` before the text',
    },
    file_id: dropped,
    tool: { otherwise: 'approximated', why: 'a tool that is added or withdrawn is so from the beginning' },
    'tool.type': mapped,
    'tool.name': mapped,
    'tool.server_name': hosted,
    'tool.definition': mapped,
    ...below('tool.definition', tool),
    'cache_control:tool': { otherwise: 'dropped', why: 'the prompt has no such place' },
    content: mapped,
    ...below('content', {
      ...block,
      tool_name: { ...typed('t'), why: 'as `Loaded tool: ` and its name' },
      tabs: hosted,
      state_changes: hosted,
      content: mapped,
      ...below('content', innerText),
      ...below('source.content', inner),
    }),
    ...below('source.content', inner),
  }),
  system: typed('tO'),
  ...below('system', {
    type: ignored,
    text: mapped,
    cache_control: elsewhere,
    citations: ignored,
  }),
  tools: mapped,
  ...below('tools', tool),
  'tools:tool_search': vendorSearch,
  tool_choice: typed('o'),
  ...below('tool_choice', {
    type: mapped,
    name: mapped,
    disable_parallel_tool_use: { to: { generate: 'dropped' }, otherwise: 'mapped', harmless: [false] },
  }),
  thinking: mapped,
  ...below('thinking', {
    type: mapped,
    'type:between_tools': { otherwise: 'approximated', why: 'it thinks before the first call as well' },
    budget_tokens: { to: { chat: 'mapped', generate: 'mapped' }, otherwise: 'approximated', why: 'as an effort' },
    display: { ...mapped, why: shownUnasked },
  }),
  output_config: mapped,
  'output_config.effort': effortRow,
  'output_config.format': mapped,
  'output_config.task_budget': dropped,
  stop_sequences: stopRow,
  temperature: samplingRow,
  top_p: samplingRow,
  top_k: { to: { generate: 'kept' }, otherwise: 'dropped' },
  stream: mapped,
  metadata: { to: { generate: 'ignored' }, otherwise: 'mapped' },
  'metadata.user_id': { to: { generate: 'ignored' }, otherwise: 'mapped' },
  cache_control: dropped,
  service_tier: ignored,
  speed: { otherwise: 'dropped', harmless: ['standard'] },
  container: refused('containers are hosted by Anthropic'),
  diagnostics: ignored,
  inference_geo: refused('it promises where the data is processed', ['global']),
  user_profile_id: dropped,
  workspace_id: dropped,
  // From beta versions of the API, which agents use.
  output_format: mapped,
  // Claude Code's: no thinking is cleared.
  context_management: {
    otherwise: 'dropped',
    harmless: [{ edits: [] }, { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] }],
  },
  mcp_servers: refused('its servers are called by Anthropic', [[]]),
  compaction: refused('only Anthropic compacts conversations'),
  // A request that begins a thread contains the whole conversation.
  thread: refused('what it continues is stored by no provider here; send the whole conversation', [{ type: 'create' }]),
  betas: { otherwise: 'dropped', harmless: [[]] },
} satisfies FieldTable
