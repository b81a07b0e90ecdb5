/**
 * What the models of a family accept, as data. A model without a row counts as the newest of its family, or as a plain model of no family.
 * Sources: wire/translate.md, sections 1, 2, 3, 5 and 6; wire/lanes.md, section 2.2.
 */
export interface ModelFacts {
  family: 'openai' | 'anthropic' | 'gemini' | 'other'
  /** `temperature`, `top_p`, `top_k`. `one`: temperature or top_p, not both. */
  sampling: 'all' | 'one' | 'none'
  /** Stop sequences. */
  stop: boolean
  /** The largest answer in tokens, if neither the provider nor the prices say; null: no limit has to be sent. */
  maxOutput: number | null
  reasoning: ReasoningFacts
  /** System messages among the turns. */
  systemInPlace: boolean
  /** OpenAI: instructions have the role `developer`. */
  developerRole: boolean
  /** OpenAI's Responses: texts before a call are labelled as comments on the way. Unlabelled, they are taken for the final answer. */
  phases: boolean
  /** `tool_choice` may force a call. */
  forcedCalls: boolean
  /** The same on Bedrock, while Claude thinks by itself. */
  forcedOnBedrock?: boolean
  /** The model continues an answer that the client begins. */
  prefill: boolean
}

export interface ReasoningFacts {
  /**
   * `none`: the model does not reason. `effort`: OpenAI's levels. `budget`: tokens. `adaptive`: the model decides, guided by an effort.
   * `level`: Gemini's levels.
   */
  control: 'none' | 'effort' | 'budget' | 'adaptive' | 'level'
  /** The levels that the model knows, from least to most. */
  efforts: readonly Effort[]
  /** Whether reasoning can be switched off. */
  canDisable: boolean
  /** Claude: off means that it thinks between its calls only. */
  offBetweenTools?: true
  /** The smallest and the largest budget in tokens. */
  leastBudget: number
  mostBudget: number
}

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

const noReasoning: ReasoningFacts = { control: 'none', efforts: [], canDisable: true, leastBudget: 0, mostBudget: 0 }

const plain: ModelFacts = {
  family: 'other',
  sampling: 'all',
  stop: true,
  maxOutput: null,
  reasoning: noReasoning,
  systemInPlace: true,
  developerRole: false,
  phases: false,
  forcedCalls: true,
  prefill: true,
}

const effort = (...efforts: Effort[]): ReasoningFacts => ({
  ...noReasoning,
  control: 'effort',
  efforts,
  canDisable: efforts.includes('none'),
})

const openai: ModelFacts = { ...plain, family: 'openai' }
const openaiReasoning: ModelFacts = { ...openai, sampling: 'none', stop: false, developerRole: true }

/** They always reason. */
const codexEfforts = effort('low', 'medium', 'high', 'xhigh')
const proEfforts = effort('medium', 'high', 'xhigh')
const gpt52: ModelFacts = { ...openaiReasoning, reasoning: effort('none', 'low', 'medium', 'high', 'xhigh') }

const budget = (leastBudget: number, mostBudget: number, canDisable = true): ReasoningFacts => ({
  ...noReasoning,
  control: 'budget',
  canDisable,
  leastBudget,
  mostBudget,
})

const adaptive = (canDisable: boolean, ...efforts: Effort[]): ReasoningFacts => ({
  ...noReasoning,
  control: 'adaptive',
  efforts,
  canDisable,
})

const anthropic: ModelFacts = { ...plain, family: 'anthropic', systemInPlace: false }
const claude45: ModelFacts = { ...anthropic, sampling: 'one', maxOutput: 64_000, reasoning: budget(1024, 32_768) }
const claude46: ModelFacts = {
  ...anthropic,
  sampling: 'one',
  maxOutput: 128_000,
  reasoning: adaptive(true, 'low', 'medium', 'high', 'max'),
  forcedOnBedrock: false,
  prefill: false,
}
const claude47: ModelFacts = {
  ...claude46,
  sampling: 'none',
  reasoning: adaptive(true, 'low', 'medium', 'high', 'xhigh', 'max'),
}
const claudeNewest: ModelFacts = { ...claude47, systemInPlace: true, forcedOnBedrock: true }
/** Models that always think. */
const claudeThinking: ModelFacts = {
  ...claudeNewest,
  reasoning: adaptive(false, 'low', 'medium', 'high', 'xhigh', 'max'),
}

const gemini: ModelFacts = { ...plain, family: 'gemini', systemInPlace: false, maxOutput: 65_536 }
const level = (...efforts: Effort[]): ReasoningFacts => ({
  ...noReasoning,
  control: 'level',
  efforts,
  canDisable: false,
})
const gemini3: ModelFacts = { ...gemini, reasoning: level('minimal', 'low', 'medium', 'high') }
const gemini3Pro: ModelFacts = { ...gemini, reasoning: level('low', 'medium', 'high') }
/** It ignores sampling, and refuses penalties. */
const geminiNewest: ModelFacts = { ...gemini3Pro, sampling: 'none', prefill: false }

/** The first row whose pattern matches counts. Names may have a prefix (Bedrock, Vertex, OpenRouter). */
const rows: readonly (readonly [RegExp, ModelFacts])[] = [
  [/claude-3-5/, { ...anthropic, maxOutput: 8192 }],
  [/claude-3-(?:opus|sonnet|haiku)|claude-(?:2|instant)/, { ...anthropic, maxOutput: 4096 }],
  [/claude-3-7/, { ...anthropic, maxOutput: 64_000, reasoning: budget(1024, 32_768) }],
  [/claude-opus-4-1/, { ...claude45, maxOutput: 32_000 }],
  [/claude-opus-4-5|claude-(?:sonnet|haiku)-4-5/, claude45],
  [/claude-opus-4-6|claude-sonnet-4-6/, claude46],
  [/claude-opus-4-7/, claude47],
  [/claude-(?:opus|sonnet)-4(?!-\d(?!\d))/, { ...anthropic, maxOutput: 32_000, reasoning: budget(1024, 32_768) }],
  [/claude-mythos-preview/, { ...claudeThinking, systemInPlace: false }],
  [/claude-(?:fable|mythos)-5(?!-\d(?!\d))/, claudeThinking],
  [/claude-sonnet-5(?!-\d(?!\d))/, { ...claudeNewest, systemInPlace: false }],
  [/claude-(?:fable|mythos)|claude-opus-(?:5-5|latest)/, { ...claudeThinking, forcedCalls: false }],
  [
    /claude-sonnet-(?:5-5|latest)/,
    { ...claudeNewest, reasoning: { ...claudeNewest.reasoning, offBetweenTools: true }, forcedCalls: false },
  ],
  [/claude/, claudeNewest],
  [/gpt-oss/, { ...plain, reasoning: effort('low', 'medium', 'high') }],
  [/gpt-[5-9](?:\.\d+)?(?:-mini|-nano)?-chat|chat-latest/, openai],
  [/gpt-5-pro(?![a-z])/, { ...openaiReasoning, reasoning: effort('high') }],
  [/gpt-5\.[12][\w-]*-pro(?![a-z])/, { ...openaiReasoning, reasoning: proEfforts }],
  [/gpt-(?:5\.\d+|[6-9])[\w.-]*-pro(?![a-z])/, { ...openaiReasoning, reasoning: proEfforts, phases: true }],
  [/gpt-5\.3-codex/, { ...openaiReasoning, reasoning: codexEfforts, phases: true }],
  [/gpt-5\.(?:1-codex-max|2-codex)/, { ...openaiReasoning, reasoning: codexEfforts }],
  [/gpt-5(?:\.1)?-codex|codex-mini/, { ...openaiReasoning, reasoning: effort('low', 'medium', 'high') }],
  [
    /gpt-5\.(?:[6-9]|\d\d)|gpt-[6-9]/,
    { ...gpt52, reasoning: effort('none', 'low', 'medium', 'high', 'xhigh', 'max'), phases: true },
  ],
  [/gpt-5\.[45]/, { ...gpt52, phases: true }],
  [/gpt-5\.[2-9]/, gpt52],
  [/gpt-5\.1/, { ...openaiReasoning, reasoning: effort('none', 'low', 'medium', 'high') }],
  [/gpt-5/, { ...openaiReasoning, reasoning: effort('minimal', 'low', 'medium', 'high') }],
  [/(?:^|\/)o\d/, { ...openaiReasoning, reasoning: effort('low', 'medium', 'high') }],
  [/gpt|chatgpt/, openai],
  [/gemini-2\.5-flash-image|gemini-.*-tts/, gemini],
  [/gemini-2\.5-pro/, { ...gemini, reasoning: budget(128, 32_768, false) }],
  [/gemini-2\.5-flash-lite/, { ...gemini, reasoning: budget(512, 24_576) }],
  [/gemini-2\.5/, { ...gemini, reasoning: budget(1, 24_576) }],
  [/gemini-(?:1|2\.0)/, { ...gemini, maxOutput: 8192 }],
  [/gemini-(?:3(?:\.\d+)?-)?pro/, gemini3Pro],
  [/gemini-3\.(?:5-flash-lite|[6-9]|\d\d)|gemini-flash(?:-lite)?-latest/, { ...gemini3, prefill: false }],
  [/gemini-[3a-z]/, gemini3],
  [/gemini/, geminiNewest],
]

export function modelFacts(model: string): ModelFacts {
  const name = model.toLowerCase()
  // Some vendors write Claude's versions with a dot, or before the name.
  const dashed = name.includes('claude')
    ? name.replaceAll('.', '-').replace(/claude-(4(?:-\d)?)-(opus|sonnet|haiku)/, 'claude-$2-$1')
    : name
  return rows.find(([pattern]) => pattern.test(dashed))?.[1] ?? plain
}

const order: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** The nearest effort that the model knows; of two equally near, the lower. Null: it knows none. */
export function nearestEffort(wanted: Effort, efforts: readonly Effort[]): Effort | null {
  const distance = (one: Effort) => Math.abs(order.indexOf(one) - order.indexOf(wanted))
  return efforts.reduce<Effort | null>(
    (best, one) => (best === null || distance(one) < distance(best) ? one : best),
    null,
  )
}

const budgets: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
}

export function budgetOfEffort(wanted: Effort): number {
  return budgets[wanted]
}

/** `tokens` -1: the model decides. */
export function effortOfBudget(tokens: number): Effort {
  if (tokens < 0) return 'medium'
  if (tokens === 0) return 'none'
  if (tokens < 4000) return 'low'
  return tokens < 16_000 ? 'medium' : 'high'
}
