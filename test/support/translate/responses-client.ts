import { expect } from 'vitest'
import { asArray, asObject, type JsonObject } from '../../../src/core/json/json-value.ts'
import { callChunk, chatChunk } from './chunks.ts'
import { checkStream } from './grammar.ts'
import { readSse, type SentEvent } from './sse.ts'
import { translateEvents, translateRequest, writeContext } from './stage.ts'

export const user = { role: 'user', content: 'x' }
export const ask = { model: 'm', input: [user] }
export const patchTool = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'x' },
}
export const asked = (body: JsonObject) => {
  const { conversation } = translateRequest('responses', 'chat', JSON.stringify({ ...ask, ...body }), {
    model: 'gpt-4o',
  })
  return writeContext({ conversation })
}

export function stream(events: readonly SentEvent[], context = asked({}), cut = false): string {
  const written = translateEvents('responses', 'chat', events, context, cut).join('')
  expect(checkStream('responses', written)).toEqual([])
  return written
}

export const patchCall = (pieces: readonly string[]) => [
  ...pieces.map((piece, index) => callChunk(0, piece, index === 0 ? { id: 'call_1', name: 'apply_patch' } : {})),
  chatChunk({}, 'tool_calls'),
]
export const outputOf = (written: string): JsonObject[] =>
  asArray(asObject(readSse(written).at(-1)?.data?.response)?.output).flatMap((item): JsonObject[] => [
    asObject(item) ?? {},
  ])
