import { expect } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { checkStream } from './grammar.ts'
import type { SentEvent } from './sse.ts'
import { translateEvents, writeContext } from './stage.ts'

export const user = { role: 'user', content: 'x' }
export const newest = { model: 'gemini-3-pro' }
export const call = (id: string, more: JsonObject = {}) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: '{}' },
  ...more,
})
export const signed = (value: string) => {
  const sealed = Buffer.from(JSON.stringify({ family: 'gemini', form: 'thought', value })).toString('base64url')
  return { extra_content: { google: { thought_signature: `sealed.${sealed}` } } }
}
export const result = (id: string, content: unknown = 'r') => ({ role: 'tool', tool_call_id: id, content })
export const ask = (...messages: JsonObject[]) => ({ model: 'm', messages: [user, ...messages] })

export function chunk(parts: readonly JsonObject[], more: JsonObject = {}): SentEvent {
  const data = {
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    modelVersion: 'm',
    responseId: 'r',
  }
  return { name: '', data, raw: '' }
}

export function partsOf(sent: JsonObject | null, index: number): JsonObject[] {
  return asArray(asObject(asArray(sent?.contents)[index])?.parts).flatMap((part): JsonObject[] => [
    asObject(part) ?? {},
  ])
}

export function toClient(client: 'chat' | 'messages' | 'responses', events: readonly SentEvent[]): string {
  const written = translateEvents(client, 'generate', events, writeContext()).join('')
  expect(checkStream(client, written)).toEqual([])
  return written
}
