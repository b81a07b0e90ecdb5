import { asText } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { StopReason } from '../reply.ts'

const reasons: Readonly<Record<string, StopReason>> = {
  stop: 'done',
  eos: 'done',
  length: 'length',
  // Mistral: the context is full.
  model_length: 'context',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'filtered',
  // Mistral, DeepSeek, OpenRouter: the model did not finish.
  error: 'broken',
  insufficient_system_resource: 'broken',
}

/** Whether the reason is unknown, or exists in no other format. */
export function isForeignFinish(value: unknown): boolean {
  const reason = asText(value)
  return reason !== null && ownValue(reasons, reason) === undefined
}

/** An unknown reason counts as a normal end. In chat, a refusal ends like an answer. */
export function readFinish(value: unknown, refused: boolean): StopReason {
  const reason = ownValue(reasons, asText(value) ?? '') ?? 'done'
  return refused && reason === 'done' ? 'refused' : reason
}

const written: Readonly<Record<StopReason, string>> = {
  done: 'stop',
  sequence: 'stop',
  length: 'length',
  context: 'length',
  calls: 'tool_calls',
  filtered: 'content_filter',
  refused: 'content_filter',
  // The answer is incomplete, and `stop` would make it look finished.
  paused: 'length',
  broken: 'stop',
}

/** `refuses`: what the model says of its refusal has passed, which is a whole answer there: OpenAI's helpers throw at a filter's. */
export function writeFinish(reason: StopReason, asFunction: boolean, refuses: boolean): string {
  if (refuses && reason === 'refused') return 'stop'
  return asFunction && reason === 'calls' ? 'function_call' : written[reason]
}
