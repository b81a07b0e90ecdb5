import { expect } from 'vitest'
import type { FormatName } from '../../../src/core/format.ts'
import { asArray, asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { checkStream } from './grammar.ts'
import { readSse, type SentEvent } from './sse.ts'
import { type RequestOptions, translateEvents, translateRequest, writeContext } from './stage.ts'

export function toMessages(events: readonly SentEvent[], cut = false): string {
  const stream = translateEvents('messages', 'chat', events, writeContext(), cut).join('')
  expect(checkStream('messages', stream)).toEqual([])
  return stream
}

export function toChat(events: readonly SentEvent[], cut = false): string {
  const stream = translateEvents('chat', 'messages', events, writeContext(), cut).join('')
  expect(checkStream('chat', stream)).toEqual([])
  return stream
}

export function blocksOf(stream: string): string[] {
  return readSse(stream)
    .filter(({ name }) => name === 'content_block_start')
    .map(({ data }) => String(asObject(data?.content_block)?.type))
}

export function request(from: FormatName, to: FormatName, body: JsonObject, options: RequestOptions = {}) {
  const written = translateRequest(from, to, JSON.stringify(body), options)
  return { ...written, sent: asObject(JSON.parse(written.body ?? 'null')) }
}

export const claude = { model: 'claude-sonnet-4-5' }
export const ask = { model: 'm', messages: [{ role: 'user', content: 'x' }] }
export const calls = (...ids: string[]) =>
  ids.map((id) => ({ id, type: 'function', function: { name: `f_${id}`, arguments: '{}' } }))
export const contentOf = (body: JsonObject | null, index: number): JsonObject[] =>
  asArray(asObject(asArray(body?.messages)[index])?.content).flatMap((part): JsonObject[] => [asObject(part) ?? {}])
