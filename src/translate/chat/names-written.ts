import { asArray, asObject, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { ConversationTurn } from '../conversation.ts'
import { countOf } from '../json.ts'
import { cacheMarkPath } from '../setting-paths.ts'

/** Members that the client wrote under another name than the one under which their loss is reported. */
export function namesWritten(body: JsonObject, turns: readonly ConversationTurn[]): Record<string, string> {
  const { max_completion_tokens, safety_identifier, parallel_tool_calls, functions } = body
  return {
    ...(countOf(max_completion_tokens) === null && { max_completion_tokens: 'max_tokens' }),
    ...(asText(safety_identifier) === null && { safety_identifier: 'user' }),
    // A client that declares functions can read only one call.
    ...(typeof parallel_tool_calls !== 'boolean' &&
      asArray(functions).length > 0 && { parallel_tool_calls: 'functions' }),
    ...marksWritten(body, turns),
  }
}

/** Cache marks in Anthropic's form. */
function marksWritten({ messages, tools }: JsonObject, turns: readonly ConversationTurn[]): Record<string, string> {
  const names: Record<string, string> = {}
  const note = (value: unknown, written: string, marked = written) => {
    const object = asObject(value)
    if (asObject(object?.cache_control) !== null && asObject(object?.prompt_cache_breakpoint) === null)
      names[cacheMarkPath('chat', marked)] = `${written}.cache_control`
  }
  for (const [index, value] of asArray(messages).entries()) {
    const path = `messages[${index}]`
    const message = asObject(value)
    note(message, path, turns[index]?.parts.at(-1)?.path)
    for (const [at, part] of asArray(message?.content).entries()) note(part, `${path}.content[${at}]`)
    for (const [at, call] of asArray(message?.tool_calls).entries()) note(call, `${path}.tool_calls[${at}]`)
  }
  for (const [index, tool] of asArray(tools).entries()) note(tool, `tools[${index}]`)
  return names
}
