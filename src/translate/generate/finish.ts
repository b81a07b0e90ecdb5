import { asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import { ownValue } from '../../core/own-value.ts'
import type { Stop, StopReason } from '../reply.ts'

/** An unknown reason counts as a normal end. Source: wire/translate.md, section 9. */
const reasons: Readonly<Record<string, StopReason>> = {
  STOP: 'done',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  BLOCKLIST: 'filtered',
  SPII: 'filtered',
  RECITATION: 'filtered',
  LANGUAGE: 'filtered',
  IMAGE_SAFETY: 'filtered',
  IMAGE_PROHIBITED_CONTENT: 'filtered',
  IMAGE_RECITATION: 'filtered',
  ESCALATION: 'filtered',
  PUP_LIMITED_DISABLED: 'filtered',
  MODEL_ARMOR: 'filtered',
  MALFORMED_FUNCTION_CALL: 'broken',
  UNEXPECTED_TOOL_CALL: 'broken',
  TOO_MANY_TOOL_CALLS: 'broken',
  MALFORMED_RESPONSE: 'broken',
  MISSING_THOUGHT_SIGNATURE: 'broken',
  CONTINUATION: 'paused',
}

/** Whether the reason is unknown, or exists in no other format (`OTHER`, `NO_IMAGE`). */
export function isForeignFinish(candidate: JsonObject): boolean {
  const reason = asText(candidate.finishReason)
  return reason !== null && ownValue(reasons, reason) === undefined
}

/** Null while the answer continues. */
export function readFinish(candidate: JsonObject | null, feedback: unknown): Stop | null {
  const written = asText(candidate?.finishReason)
  if (written !== null) {
    return {
      reason: ownValue(reasons, written) ?? 'done',
      sequence: null,
      explanation: asText(candidate?.finishMessage),
    }
  }
  const block = asObject(feedback)
  const blocked = asText(block?.blockReason)
  if (blocked === null) return null
  const explanation = asText(block?.blockReasonMessage) ?? `The prompt was blocked (${blocked}).`
  return { reason: 'filtered', sequence: null, explanation }
}

const written: Readonly<Record<StopReason, string>> = {
  done: 'STOP',
  sequence: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  context: 'MAX_TOKENS',
  filtered: 'SAFETY',
  refused: 'SAFETY',
  paused: 'MAX_TOKENS',
  broken: 'MALFORMED_FUNCTION_CALL',
}

export function writeFinish({ reason, explanation }: Stop): JsonObject {
  return { finishReason: written[reason], ...(explanation !== null && { finishMessage: explanation }) }
}
