import type { PlainTurns } from './plain-turns.ts'

/**
 * What a request means, whatever its format: each codec reads its format into this and writes its format from it. Nothing is
 * normalised for a target here: turns stay as the client sent them, and a writer merges, orders and refuses as its format wants.
 */
export interface Conversation {
  turns: readonly ConversationTurn[]
  tools: readonly Tool[]
  toolChoice: ToolChoice | null
  /** null: the client said nothing. */
  parallelCalls: boolean | null
  settings: ConversationSettings
  /**
   * Members that the client wrote and that some other format cannot carry, or that no table knows. The table of losses
   * (`losses.ts`) says what becomes of each at a target.
   */
  seen: readonly SeenField[]
  /** Members that the client wrote by another name (`max_tokens`), by the one by which their loss would be reported. */
  namesWritten?: Readonly<Record<string, string>>
}

export interface SeenField {
  /** The row of the table: `logit_bias`, `messages.name`, or `unknown` for a member that has no row. */
  field: string
  /** Where it stands in the client's body: `messages[3].name`. */
  path: string
}

export interface ConversationTurn {
  /** `tool`: results only, where the format gives them a message of their own. Elsewhere they stand in a user turn. */
  role: 'system' | 'user' | 'assistant' | 'tool'
  parts: readonly Part[]
  path: string
  /** Turns of nothing but text, of which this stands for all: it ends in the assistant's, and has no parts. */
  plain?: PlainTurns
}

/** Plain turns among the others. */
export function plainTurn(plain: PlainTurns, path: string): ConversationTurn {
  return { role: 'assistant', parts: [], path, plain }
}

export type Part = TextPart | RefusalPart | ReasoningPart | CallPart | ResultPart | MediaPart | ServerPart

interface PartBase {
  /** `messages[3].content[0]` */
  path: string
  /** The prompt up to and including this part is to be cached for so long. */
  cacheMark?: CacheMark
}

export type CacheMark = '5m' | '30m' | '1h' | '12h'

export interface TextPart extends PartBase {
  kind: 'text'
  text: string
  citations?: readonly Citation[]
  /** Gemini signs texts too. */
  opaque?: Opaque
  /** Of an answer whose client asked for them. */
  logprobs?: readonly TokenLogprob[]
}

/** How likely a token of an answer was, as both OpenAI formats write it. */
export interface TokenLogprob {
  token: string
  /** A number as the provider wrote it. */
  logprob: unknown
  bytes: readonly unknown[] | null
  /** What could have stood in its place. */
  top_logprobs: readonly Omit<TokenLogprob, 'top_logprobs'>[]
}

export interface RefusalPart extends PartBase {
  kind: 'refusal'
  text: string
}

/** What a model thought. `text` is what may be shown; `opaque` is what only its own provider can read. */
export interface ReasoningPart extends PartBase {
  kind: 'reasoning'
  text: string
  opaque?: Opaque
}

export interface CallPart extends PartBase {
  kind: 'call'
  /** null: the format gave it none (Gemini). */
  id: string | null
  name: string
  /** JSON text exactly as it was written; of a custom tool: its input as plain text. */
  arguments: string
  custom: boolean
  opaque?: Opaque
}

export interface ResultPart extends PartBase {
  kind: 'result'
  /** null: it belongs to the call of this name, in order (Gemini). */
  callId: string | null
  name: string | null
  parts: readonly (TextPart | MediaPart)[]
  failed: boolean
  /** The call was of a custom tool (Responses says so). */
  custom?: true
}

export interface MediaPart extends PartBase {
  kind: 'image' | 'audio' | 'video' | 'file'
  source: MediaSource
  /** A file's name or title. */
  name?: string
  /** As OpenAI names it: `auto`, `low`, `high`, `original`. */
  detail?: string
}

export type MediaSource =
  /** `data`: base64 without a prefix. `type`: `image/png`, or '' where it is not said. */
  | { kind: 'data'; type: string; data: string }
  | { kind: 'text'; type: string; data: string }
  | { kind: 'url'; type: string; url: string }
  /** A file that the provider stores: only the format's own providers know it. */
  | { kind: 'id'; id: string }

/** A block of a hosted tool in the history. It cannot cross to another provider; its text can. */
export interface ServerPart extends PartBase {
  kind: 'server'
  family: ProviderFamily
  type: string
}

/** Who can read an opaque value. */
export type ProviderFamily = 'openai' | 'anthropic' | 'gemini'

/** Reasoning that is signed or encrypted by its provider, byte for byte as it came. */
export interface Opaque {
  family: ProviderFamily
  /**
   * `signature`: Anthropic, of the part's own text. `redacted`: Anthropic, without text. `encrypted`: OpenAI's `encrypted_content`.
   * `thought`: Gemini's `thoughtSignature`.
   */
  form: 'signature' | 'redacted' | 'encrypted' | 'thought'
  value: string
  /** OpenAI: the id of the reasoning item. */
  id?: string
  /** The provider that made it, by its id, where a carrier of the gateway said so: it goes to no other. */
  provider?: string
}

export interface Citation {
  url: string
  title: string
  /** In UTF-16 units of the whole text of the answer; null where the span is the part itself. */
  start: number | null
  end: number | null
  quote?: string
}

export interface Tool {
  path: string
  kind: 'function' | 'custom' | 'search' | 'hosted'
  name: string
  /** Responses: the namespace that the client keeps it in, and its name there; `name` is of both. */
  within?: { namespace: string; name: string }
  description: string | null
  /** Of a function: JSON Schema as the client wrote it; null: it takes no arguments. */
  schema: unknown
  /** As written; null: the client said nothing, which formats read differently. */
  strict: boolean | null
  cacheMark?: CacheMark
  /** Of a custom tool: its grammar, which no function has. */
  grammar?: unknown
  /** Of a web search. */
  search?: SearchOptions
  /** Of a hosted tool: the type that no other format has. */
  type?: string
}

export interface SearchOptions {
  allowedDomains: readonly string[] | null
  blockedDomains: readonly string[] | null
  maxUses: number | null
  contextSize: string | null
  location: unknown
}

export interface ToolChoice {
  path: string
  /** `some`: any of `names`. */
  mode: 'auto' | 'none' | 'any' | 'some'
  /** One name with `any` forces that tool; with `some` a subset may be called (`required`: must be). */
  names: readonly string[]
  required: boolean
}

/** null: the client wrote nothing. */
export interface ConversationSettings {
  maxOutput: number | null
  temperature: unknown
  topP: unknown
  topK: unknown
  frequencyPenalty: unknown
  presencePenalty: unknown
  seed: unknown
  stop: readonly string[]
  /** How many answers; only 1 can be translated. */
  count: number | null
  streamed: boolean
  /** Chat only: whether the client asked for usage at the end of a stream. */
  streamUsage: boolean
  endUser: string | null
  output: OutputFormat | null
  reasoning: ReasoningSettings | null
  logprobs: LogprobSettings | null
  serviceTier: string | null
  cacheKey: string | null
  /** Of the whole request (Anthropic's top-level `cache_control`). */
  cacheMark: CacheMark | null
  /** `low`, `medium`, `high` (OpenAI). */
  verbosity: string | null
  metadata: unknown
  /** Responses: what the client wrote; null: nothing, and the SDK's default is true. */
  store: boolean | null
  /** Chat: the client brings sealed reasoning back, and has asked for it. */
  carriesReasoning?: boolean
}

export interface OutputFormat {
  path: string
  kind: 'schema' | 'json'
  name: string | null
  /** OpenAI's: what the answer is for. */
  description?: string
  schema: unknown
  strict: boolean | null
}

export interface ReasoningSettings {
  path: string
  /** OpenAI's words; null where the client gave a budget, or only says whether. */
  effort: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null
  /** Tokens; -1: as the model decides. */
  budget: number | null
  /** Whether the client wants to see it; null: it did not say. */
  visible: boolean | null
  /** Responses: the client asked for `encrypted_content` and can carry it. */
  encrypted: boolean
}

/** The client wants the probabilities of the tokens of the answer. */
export interface LogprobSettings {
  path: string
  /** Of how many others in place of each; null: of none. */
  top: number | null
}

export const blankSettings: Readonly<ConversationSettings> = {
  maxOutput: null,
  temperature: null,
  topP: null,
  topK: null,
  frequencyPenalty: null,
  presencePenalty: null,
  seed: null,
  stop: [],
  count: null,
  streamed: false,
  streamUsage: false,
  endUser: null,
  output: null,
  reasoning: null,
  logprobs: null,
  serviceTier: null,
  cacheKey: null,
  cacheMark: null,
  verbosity: null,
  metadata: null,
  store: null,
}
