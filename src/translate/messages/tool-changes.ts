import { asArray, asObject, asString, type JsonObject } from '../../core/json/json-value.ts'
import type { SeenField, Tool } from '../conversation.ts'

export function isToolChange(block: unknown): boolean {
  const type = asObject(block)?.type
  return type === 'tool_addition' || type === 'tool_removal'
}

/**
 * Elsewhere, tools that a system message adds or withdraws are available, or not, from the beginning: the final state counts. `seen` gets
 * the cache marks of these blocks, which have no place in the prompt there.
 */
export function changeTools(
  tools: readonly Tool[],
  messages: unknown,
  read: (tool: JsonObject, path: string) => Tool,
  seen: SeenField[],
): readonly Tool[] {
  const known = new Map(tools.map((tool) => [tool.name, tool]))
  const offered = new Map(known)
  let changed = false
  for (const [index, message] of asArray(messages).map(asObject).entries()) {
    if (message?.role !== 'system' || !Array.isArray(message.content)) continue
    for (const [at, value] of message.content.entries()) {
      const block = isToolChange(value) ? asObject(value) : null
      if (block === null) continue
      const path = `messages[${index}].content[${at}]`
      if (asObject(block.cache_control) !== null)
        seen.push({ field: 'messages.content.cache_control:tool', path: `${path}.cache_control` })
      const tool = asObject(block.tool)
      // Tools of a server that Anthropic calls: the table lists the server.
      if (asString(tool?.server_name) !== '') continue
      changed = true
      const definition = asObject(tool?.definition)
      const name = asString(definition?.name ?? tool?.name)
      if (definition !== null) known.set(name, read(definition, `${path}.tool.definition`))
      const wanted = known.get(name)
      if (block.type === 'tool_removal') offered.delete(name)
      else if (wanted !== undefined) offered.set(name, wanted)
    }
  }
  return changed ? [...offered.values()] : tools
}
