import type { LaneName } from './lane.ts'

/** One turn of a conversation, in words that all lanes have. */
export interface Turn {
  role: 'system' | 'user' | 'assistant'
  text: string
}

export interface Question {
  model: string
  turns: readonly Turn[]
  streamed: boolean
  /** null: as the provider does it. */
  maxTokens: number | null
  temperature: number | null
}

export interface LaneCall {
  /** Below the gateway's URL. */
  path: string
  body: Record<string, unknown>
}

/** Anthropic's format has no call without a limit. */
const anthropicMaxTokens = 1024

/** The call that asks this on a lane, in the lane's own format: for tries by hand, never for what a client sent. */
export function writeLaneCall(lane: LaneName, question: Question): LaneCall {
  return { path: lanePath(lane, question.model, question.streamed), body: writers[lane](question) }
}

export function lanePath(lane: LaneName, model: string, streamed: boolean): string {
  if (lane === 'openai') return '/v1/chat/completions'
  if (lane === 'anthropic') return '/v1/anthropic/v1/messages'
  const verb = streamed ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return `/v1/gemini/v1beta/models/${encodeURIComponent(model)}:${verb}`
}

const writers: Record<LaneName, (question: Question) => Record<string, unknown>> = {
  openai: ({ model, turns, streamed, maxTokens, temperature }) => ({
    model,
    messages: turns.map(({ role, text }) => ({ role, content: text })),
    ...(streamed ? { stream: true } : {}),
    ...(maxTokens === null ? {} : { max_completion_tokens: maxTokens }),
    ...(temperature === null ? {} : { temperature }),
  }),
  anthropic: ({ model, turns, streamed, maxTokens, temperature }) => ({
    model,
    max_tokens: maxTokens ?? anthropicMaxTokens,
    ...systemOf(turns, (text) => ({ system: text })),
    messages: spoken(turns).map(({ role, text }) => ({ role, content: text })),
    ...(streamed ? { stream: true } : {}),
    ...(temperature === null ? {} : { temperature }),
  }),
  gemini: ({ turns, maxTokens, temperature }) => ({
    ...systemOf(turns, (text) => ({ systemInstruction: { parts: [{ text }] } })),
    contents: spoken(turns).map(({ role, text }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: [{ text }],
    })),
    ...geminiSettings(maxTokens, temperature),
  }),
}

function geminiSettings(maxTokens: number | null, temperature: number | null): Record<string, unknown> {
  if (maxTokens === null && temperature === null) return {}
  return {
    generationConfig: {
      ...(maxTokens === null ? {} : { maxOutputTokens: maxTokens }),
      ...(temperature === null ? {} : { temperature }),
    },
  }
}

const spoken = (turns: readonly Turn[]) => turns.filter(({ role }) => role !== 'system')

function systemOf(turns: readonly Turn[], write: (text: string) => Record<string, unknown>): Record<string, unknown> {
  const texts = turns.filter(({ role }) => role === 'system').map(({ text }) => text)
  return texts.length === 0 ? {} : write(texts.join('\n\n'))
}

/** What a person reads of an answer, whole or one event of it; '' where it holds no text. */
export function readAnswerText(lane: LaneName, answer: unknown): string {
  return readers[lane](answer)
}

const readers: Record<LaneName, (answer: unknown) => string> = {
  openai: (answer) => {
    const choice = at(at(answer, 'choices'), 0)
    return text(at(at(choice, 'delta'), 'content')) || text(at(at(choice, 'message'), 'content'))
  },
  anthropic: (answer) => {
    const delta = at(answer, 'delta')
    if (at(answer, 'type') === 'content_block_delta') return text(at(delta, 'text'))
    return joinTexts(at(answer, 'content'))
  },
  gemini: (answer) => joinTexts(at(at(at(at(answer, 'candidates'), 0), 'content'), 'parts')),
}

/** A thought of Gemini's is a part like any other, but for its mark. */
function joinTexts(parts: unknown): string {
  if (!Array.isArray(parts)) return ''
  return parts
    .filter((part) => at(part, 'thought') !== true)
    .map((part) => text(at(part, 'text')))
    .join('')
}

function at(place: unknown, step: string | number): unknown {
  return typeof place === 'object' && place !== null ? Reflect.get(place, step) : undefined
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
