import { asArray, asObject, asText, isCount, type JsonObject } from '../../../src/core/json/json-value.ts'
import type { SentEvent } from './sse.ts'

/** Gemini's stream: nothing but data, no end of its own. Source: wire/streaming.md, sections 0 and 4. */
export function checkGenerateStream(events: readonly SentEvent[]): string[] {
  const wrong: string[] = []
  let isOver = false
  for (const { name, data, raw } of events) {
    if (name !== '' || !/^data: \{/.test(raw) || raw.includes('\n'))
      wrong.push(`a line that is no data: ${raw.slice(0, 40)}`)
    if (data === null) continue
    if (isOver) wrong.push('a chunk after the end')
    const error = asObject(data.error)
    if (error !== null) {
      isOver = true
      const isKnown = isCount(error.code) && error.code >= 400 && error.code < 600 && asText(error.status) !== null
      if (!isKnown) wrong.push('an error without its code')
      continue
    }
    wrong.push(...checkChunk(data))
    isOver = asText(asObject(asArray(data.candidates)[0])?.finishReason) !== null
  }
  return isOver ? wrong : [...wrong, 'the stream has no end']
}

function checkChunk(data: JsonObject): string[] {
  const [candidate, ...others] = asArray(data.candidates).map(asObject)
  const content = asObject(candidate?.content)
  const parts = asArray(content?.parts).map(asObject)
  // The chats of Google's SDKs forget a turn of which a chunk has no parts, as of one that was blocked.
  const isBlocked = candidate?.finishReason === 'SAFETY'
  const isLast = asText(candidate?.finishReason) !== null
  const isEnd = isLast && parts.length === 1 && parts[0]?.text === ''
  return [
    ...(asText(data.responseId) === null ? ['a chunk without responseId'] : []),
    ...(candidate && others.length === 0 && candidate.index === 0 ? [] : ['not one candidate']),
    ...(content?.role === 'model' ? [] : ['content without its role']),
    ...(parts.length === 0 && !isBlocked ? ['a chunk without parts'] : []),
    ...(isEnd ? [] : parts.flatMap(checkPart)),
  ]
}

function checkPart(part: JsonObject | null): string[] {
  const call = asObject(part?.functionCall)
  if (call !== null) {
    return asText(call.name) !== null && asObject(call.args) !== null ? [] : ['a call without name or arguments']
  }
  return asText(part?.text) === null ? [`a part with ${Object.keys(part ?? {}).join()}`] : []
}
