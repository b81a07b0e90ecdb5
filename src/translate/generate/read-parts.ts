import { asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { Opaque } from '../conversation.ts'
import { lostMembers } from '../lost-members.ts'

/** One part of an answer, whole or streamed. */
export type CandidatePart =
  | { kind: 'text' | 'reasoning'; text: string; opaque: Opaque | null }
  | { kind: 'image'; type: string; data: string; opaque: Opaque | null }
  | { kind: 'call'; id: string | null; name: string; arguments: string; opaque: Opaque | null }

const readOfText = new Set(['text', 'thought', 'thoughtSignature'])
const readOfCall = new Set(['functionCall', 'thought', 'thoughtSignature'])
const readInCall = new Set(['id', 'name', 'args'])

/** Kinds of parts without a place in other formats: code that Google runs, images, Google's own tools. */
export function lostOfPart(part: JsonObject): string[] {
  const call = asObject(part.functionCall)
  if (call === null)
    return lostMembers(part, readOfText).filter((name) => name !== 'inlineData' || madeImage(part) === null)
  if (asText(call.name) === null) return ['functionCall']
  return [...lostMembers(part, readOfCall), ...lostMembers(call, readInCall).map((name) => `functionCall.${name}`)]
}

/** Null: other formats have no place for it. */
export function readAnswerPart(part: JsonObject): CandidatePart | null {
  const signature = asText(part.thoughtSignature)
  const opaque: Opaque | null = signature === null ? null : { family: 'gemini', form: 'thought', value: signature }
  const call = asObject(part.functionCall)
  if (call !== null) {
    const name = asText(call.name)
    if (name === null) return null
    const args = asObject(call.args)
    return { kind: 'call', id: asText(call.id), name, arguments: args === null ? '{}' : JSON.stringify(args), opaque }
  }
  if (typeof part.text === 'string')
    return { kind: part.thought === true ? 'reasoning' : 'text', text: part.text, opaque }
  const image = madeImage(part)
  if (image !== null) return { kind: 'image', ...image, opaque }
  // A signature may come without text.
  if (opaque !== null && Object.keys(part).length === 1) return { kind: 'text', text: '', opaque }
  return null
}

/** What the model draws on its way is no part of the answer. */
function madeImage({ inlineData, thought }: JsonObject): { type: string; data: string } | null {
  const inline = asObject(inlineData)
  const [type, data] = [asText(inline?.mimeType), asText(inline?.data)]
  return data === null || thought === true || type?.startsWith('image/') !== true ? null : { type, data }
}
