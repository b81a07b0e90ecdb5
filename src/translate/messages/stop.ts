import { asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { Stop, StopReason } from '../reply.ts'

const reasons: Readonly<Record<string, StopReason>> = {
  end_turn: 'done',
  stop_sequence: 'sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'context',
  tool_use: 'calls',
  refusal: 'refused',
  pause_turn: 'paused',
  // From beta versions: the conversation was compacted, and is to be continued.
  compaction: 'paused',
}

/** Whether the reason is unknown. */
export function isForeignStop({ stop_reason }: JsonObject): boolean {
  const reason = asText(stop_reason)
  return reason !== null && ownValue(reasons, reason) === undefined
}

/** From a message, or the `delta` of `message_delta`. An unknown reason counts as a normal end. */
export function readStop(from: JsonObject): Stop {
  return {
    reason: ownValue(reasons, asText(from.stop_reason) ?? '') ?? 'done',
    sequence: asText(from.stop_sequence),
    explanation: asText(asObject(from.stop_details)?.explanation),
  }
}

const written: Readonly<Record<StopReason, string>> = {
  done: 'end_turn',
  sequence: 'stop_sequence',
  length: 'max_tokens',
  context: 'model_context_window_exceeded',
  calls: 'tool_use',
  filtered: 'refusal',
  refused: 'refusal',
  paused: 'pause_turn',
  broken: 'end_turn',
}

/** Chat does not say which stop sequence was matched, so that becomes a normal end. */
export function writeStop({ reason, sequence, explanation }: Stop): JsonObject {
  const stopReason = reason === 'sequence' && sequence === null ? 'end_turn' : written[reason]
  return {
    stop_reason: stopReason,
    stop_sequence: stopReason === 'stop_sequence' ? sequence : null,
    stop_details: stopReason === 'refusal' ? { type: 'refusal', category: null, explanation } : null,
  }
}
