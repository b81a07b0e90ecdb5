import type { LaneName } from './lane.ts'

/**
 * The four formats in which models are asked and answer: OpenAI chat completions, OpenAI responses, Anthropic messages, Gemini
 * generateContent. A lane is a family of URLs with its SDKs; the OpenAI lane has two formats.
 */
export const formatNames = ['chat', 'responses', 'messages', 'generate'] as const
export type FormatName = (typeof formatNames)[number]

export function isFormatName(text: unknown): text is FormatName {
  return formatNames.some((name) => name === text)
}

const lanes: Readonly<Record<FormatName, LaneName>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  generate: 'gemini',
}

const usual: Readonly<Record<LaneName, FormatName>> = { openai: 'chat', anthropic: 'messages', gemini: 'generate' }

/** The format of a call that names only its lane and model. */
export function usualFormat(lane: LaneName): FormatName {
  return usual[lane]
}

/** The lane whose endpoints have this format. */
export function laneOfFormat(format: FormatName): LaneName {
  return lanes[format]
}
