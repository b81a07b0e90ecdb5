import type { JsonObject } from '../core/json/json-value.ts'
import type { PlainTurns } from './plain-turns.ts'

/**
 * The meaning of a request, whatever its format: each codec reads its format into this and writes its format from it. Nothing is adapted to
 * a target here: turns stay as the client sent them, and a writer merges, orders and refuses them as its format requires.
 */
export interface Conversation {
  turns: readonly ConversationTurn[]
  tools: readonly Tool[]
  toolChoice: ToolChoice | null
  /** null: the client said nothing. */
  parallelCalls: boolean | null
  settings: ConversationSettings
  /**
   * Members that the client wrote and that some other format cannot carry, or that are in no table. The table of losses (`losses.ts`) says
   * what becomes of each at a target.
   */
  seen: readonly SeenField[]
  /** Members that the client wrote under another name (`max_tokens`), by the name under which their loss would be reported. */
  namesWritten?: Readonly<Record<string, string>>
}

export interface SeenField {
  /** The row of the table: `logit_bias`, `messages.name`, or `unknown` for a member that has no row. */
  field: string
  /** Its path in the client's body: `messages[3].name`. */
  path: string
}

export interface ConversationTurn {
  /** `tool`: only results, if the format has messages for them. Otherwise results are in a user turn. */
  role: 'system' | 'user' | 'assistant' | 'tool'
  parts: readonly Part[]
  path: string
  /** Turns of nothing but text, which this turn represents: it has no parts, and counts as the assistant's last one. */
  plain?: PlainTurns
}

/** A turn that represents plain turns. */
export function plainTurn(plain: PlainTurns, path: string): ConversationTurn {
  return { role: 'assistant', parts: [], path, plain }
}

export type Part = TextPart | RefusalPart | ReasoningPart | CallPart | ResultPart | MediaPart | ServerPart

interface PartBase {
  /** `messages[3].content[0]` */
  path: string
  /** The prompt up to and including this part is to be cached for this time. */
  cacheMark?: CacheMark
}

export type CacheMark = '5m' | '30m' | '1h' | '12h'

export interface TextPart extends PartBase {
  kind: 'text'
  text: string
  citations?: readonly Citation[]
  /** Gemini also signs texts. */
  opaque?: Opaque
  /** In an answer whose client asked for them. */
  logprobs?: readonly TokenLogprob[]
}

/** The probability of a token in an answer, in the form that both OpenAI formats use. */
export interface TokenLogprob {
  token: string
  /** A number as the provider wrote it. */
  logprob: unknown
  bytes: readonly unknown[] | null
  /** Alternatives for the same position. */
  top_logprobs: readonly Omit<TokenLogprob, 'top_logprobs'>[]
}

export interface RefusalPart extends PartBase {
  kind: 'refusal'
  text: string
}

/** A model's reasoning. `text` may be shown; only its own provider can read `opaque`. */
export interface ReasoningPart extends PartBase {
  kind: 'reasoning'
  text: string
  opaque?: Opaque
}

export interface CallPart extends PartBase {
  kind: 'call'
  /** null: the format gives calls no ids (Gemini). */
  id: string | null
  name: string
  /** JSON text exactly as it was written; for a custom tool, its input as plain text. */
  arguments: string
  custom: boolean
  opaque?: Opaque
}

export interface ResultPart extends PartBase {
  kind: 'result'
  /** null: it belongs to the next call of this name (Gemini). */
  callId: string | null
  name: string | null
  parts: readonly (TextPart | MediaPart)[]
  failed: boolean
  /** The call was to a custom tool (Responses says so). */
  custom?: true
}

export interface MediaPart extends PartBase {
  kind: 'image' | 'audio' | 'video' | 'file'
  source: MediaSource
  /** Responses: the model made this image. Only Gemini's turns have a place for it. */
  made?: true
  /** Gemini signs what it makes. */
  opaque?: Opaque
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
  /** A file stored at the provider, which only providers of this format know. */
  | { kind: 'id'; id: string }

/** A hosted tool's block in the history. Another provider cannot read it, but its text can be sent. */
export interface ServerPart extends PartBase {
  kind: 'server'
  family: ProviderFamily
  type: string
}

/** The vendor whose models can read an opaque value. */
/** `openrouter`: the service itself, for whichever model it has asked. */
export type ProviderFamily = 'openai' | 'anthropic' | 'gemini' | 'openrouter'

/** Reasoning that is signed or encrypted by its provider, unchanged byte for byte. */
export interface Opaque {
  family: ProviderFamily
  /**
   * `signature`: Anthropic's, for the part's own text. `redacted`: Anthropic's, without text. `encrypted`: OpenAI's `encrypted_content`.
   * `thought`: Gemini's `thoughtSignature`. `details`: OpenRouter's `reasoning_details`, as JSON.
   */
  form: 'signature' | 'redacted' | 'encrypted' | 'thought' | 'details'
  value: string
  /** OpenAI: the id of the reasoning item. */
  id?: string
  /** The id of the provider that made it, if a seal of the gateway says so: no other provider gets it. */
  provider?: string
}

export interface Citation {
  url: string
  title: string
  /** In UTF-16 units of the whole text of the answer; null: the span is the part itself. */
  start: number | null
  end: number | null
  quote?: string
}

export interface Tool {
  path: string
  kind: 'function' | 'custom' | 'search' | 'hosted'
  name: string
  /** Responses: the client's namespace for the tool, and its name there; `name` combines both. */
  within?: { namespace: string; name: string }
  description: string | null
  /** For a function: JSON Schema as the client wrote it; null: it takes no arguments. */
  schema: unknown
  /** As written; null: the client wrote nothing, which formats interpret differently. */
  strict: boolean | null
  cacheMark?: CacheMark
  /** For a custom tool: its grammar. Functions have none. */
  grammar?: unknown
  /** For a web search. */
  search?: SearchOptions
  /** Responses: the client's own search for tools, whose calls and results are items of their own. */
  findsTools?: true
  /** For a hosted tool: its type, which no other format has. */
  type?: string
  /** For OpenAI's tool that makes images: the whole tool. */
  options?: JsonObject
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
  /** With `any`, one name forces that tool. With `some`, only these may be called (`required`: one must be). */
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
  /** The number of answers; only 1 can be translated. */
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
  /** For the whole request (Anthropic's top-level `cache_control`). */
  cacheMark: CacheMark | null
  /** `low`, `medium`, `high` (OpenAI). */
  verbosity: string | null
  metadata: unknown
  /** Responses: what the client wrote; null: nothing, which the SDK takes as true. */
  store: boolean | null
  /** Chat: the client asked for sealed reasoning, and sends it back. */
  carriesReasoning?: boolean
}

export interface OutputFormat {
  path: string
  kind: 'schema' | 'json'
  name: string | null
  /** OpenAI's: the purpose of the answer. */
  description?: string
  schema: unknown
  strict: boolean | null
}

export interface ReasoningSettings {
  path: string
  /** In OpenAI's words; null: the client gave a budget, or only says whether to reason. */
  effort: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | null
  /** Tokens; -1: the model decides. */
  budget: number | null
  /** Whether the client wants to see the reasoning; null: it did not say. */
  visible: boolean | null
  /** Responses: the client asked for `encrypted_content` and can carry it. */
  encrypted: boolean
}

/** The client wants the probabilities of the tokens of the answer. */
export interface LogprobSettings {
  path: string
  /** How many alternatives for each token; null: none. */
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
