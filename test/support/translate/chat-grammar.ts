import { asArray, asObject, asString, asText, isCount, type JsonObject } from '../../../src/core/json/json-value.ts'
import { isReadableObject } from './readable-object.ts'
import type { SentEvent } from './sse.ts'

interface CheckedCall {
  json: string
  custom: boolean
}

/** OpenAI's chunks. Source: wire/streaming.md, section 1. */
export function checkChatStream(events: readonly SentEvent[]): string[] {
  const wrong: string[] = []
  const calls: CheckedCall[] = []
  let first: JsonObject | null = null
  let finish: string | null = null
  let state: 'chunks' | 'usage' | 'done' | 'error' = 'chunks'
  for (const { name, data, raw } of events) {
    if (name !== '') wrong.push(`an event has the name ${name}`)
    if (state === 'done' || state === 'error') wrong.push('something after the end')
    if (raw === 'data: [DONE]') {
      if (finish === null) wrong.push('[DONE] without a finish reason')
      state = 'done'
      continue
    }
    if (data === null) {
      wrong.push(`no JSON: ${raw}`)
      continue
    }
    if (asObject(data.error) !== null) {
      state = 'error'
      continue
    }
    wrong.push(...checkChunk(data, first))
    const choice = asObject(asArray(data.choices)[0])
    if (choice === null) {
      if (finish === null || !isCount(asObject(data.usage)?.prompt_tokens))
        wrong.push('a chunk without choices is no usage')
      state = 'usage'
      continue
    }
    if (state === 'usage') wrong.push('a choice after the usage')
    if (finish !== null) wrong.push('a choice after its finish reason')
    const delta = asObject(choice.delta)
    if (delta === null) wrong.push('a choice without a delta')
    if (first === null && delta?.role !== 'assistant') wrong.push('the first chunk names no role')
    if (first !== null && delta?.role !== undefined) wrong.push('the role again')
    for (const call of asArray(delta?.tool_calls).map(asObject)) wrong.push(...checkCall(call, calls))
    finish = asText(choice.finish_reason)
    if (finish !== null) wrong.push(...checkFinish(finish, calls, delta))
    first ??= data
  }
  return state === 'done' || state === 'error' ? wrong : [...wrong, 'the stream has no end']
}

function checkChunk(chunk: JsonObject, first: JsonObject | null): string[] {
  const wrong: string[] = []
  if (chunk.object !== 'chat.completion.chunk') wrong.push('a chunk is of another object')
  if (asText(chunk.id) === null || !isCount(chunk.created) || typeof chunk.model !== 'string')
    wrong.push('a chunk without id, created or model')
  for (const name of ['id', 'created', 'model']) {
    if (first !== null && first[name] !== chunk[name]) wrong.push(`${name} changes`)
  }
  return wrong
}

function checkCall(delta: JsonObject | null, calls: CheckedCall[]): string[] {
  const { index } = delta ?? {}
  if (!isCount(index) || index > calls.length) return [`a call has the index ${String(index)}`]
  const custom = asObject(delta?.custom)
  const inside = custom ?? asObject(delta?.function)
  const known = calls[index]
  if (known === undefined) {
    calls.push({ json: asString(custom === null ? inside?.arguments : inside?.input), custom: custom !== null })
    const whole = asText(delta?.id) !== null && asText(inside?.name) !== null && asText(delta?.type) !== null
    return whole ? [] : ['a call begins without id, type or name']
  }
  known.json += asString(inside?.arguments) + asString(inside?.input)
  return inside !== null && 'name' in inside ? ['a call has a name again'] : []
}

const reasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call']

function checkFinish(finish: string, calls: readonly CheckedCall[], delta: JsonObject | null): string[] {
  return [
    ...(reasons.includes(finish) ? [] : [`the reason ${finish} is not known`]),
    ...(Object.keys(delta ?? {}).length === 0 ? [] : ['the last chunk has a delta']),
    ...(calls.length > 0 && finish === 'stop' ? ['stop after a call'] : []),
    ...(calls.length === 0 && finish === 'tool_calls' ? ['tool_calls without a call'] : []),
    ...calls
      .filter(
        ({ json, custom }) => finish !== 'length' && finish !== 'content_filter' && !custom && !isReadableObject(json),
      )
      .map(({ json }) => `the arguments of a call are ${json}`),
  ]
}
