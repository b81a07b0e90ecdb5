import { asArray, asObject, asString, type JsonObject } from '../../core/json-value.ts'
import type { Tool } from '../conversation.ts'

export function isToolChange(block: unknown): boolean {
  const type = asObject(block)?.type
  return type === 'tool_addition' || type === 'tool_removal'
}

/** Tools that a system message adds or withdraws are there, or not, from the beginning elsewhere: what counts is how it ends. */
export function changeTools(
  tools: readonly Tool[],
  messages: unknown,
  read: (tool: JsonObject, path: string) => Tool,
): readonly Tool[] {
  const known = new Map(tools.map((tool) => [tool.name, tool]))
  const offered = new Map(known)
  let changed = false
  for (const [index, message] of asArray(messages).map(asObject).entries()) {
    if (message?.role !== 'system' || !Array.isArray(message.content)) continue
    for (const [at, block] of message.content.entries()) {
      if (!isToolChange(block)) continue
      changed = true
      const tool = asObject(asObject(block)?.tool)
      const definition = asObject(tool?.definition)
      const name = asString(definition?.name ?? tool?.name)
      if (definition !== null) known.set(name, read(definition, `messages[${index}].content[${at}].tool.definition`))
      const wanted = known.get(name)
      if (asObject(block)?.type === 'tool_removal') offered.delete(name)
      else if (wanted !== undefined) offered.set(name, wanted)
    }
  }
  return changed ? [...offered.values()] : tools
}
