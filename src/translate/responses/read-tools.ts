import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { SearchOptions, Tool, ToolChoice } from '../conversation.ts'
import { imageTool } from '../foreign-tool.ts'
import { countOf } from '../json.ts'
import { checkType } from '../member-types.ts'
import { RequestError } from '../request-fault.ts'
import { searchName } from '../search-choice.ts'
import { putWithin } from './namespaces.ts'
import type { SkipObject } from './read-content.ts'

const searches = new Set(['web_search', 'web_search_2025_08_26', 'web_search_preview', 'web_search_preview_2025_03_11'])

/** The name of a client's search for tools, which has none of its own. */
export const toolSearch = 'tool_search'

/** Whether an item of a search for tools is the client's: OpenAI's own have no `call_id`. */
export function runsAtClient({ execution, call_id }: JsonObject): boolean {
  return execution !== 'server' && asText(call_id) !== null
}

/** What the model reads of a client's search for tools: all that it found are declared. */
export function describeFound(tools: unknown): string {
  const names = readToolList(tools, '', null, () => {}).map(({ name }) => `Loaded tool: ${name}`)
  return names.length === 0 ? 'No tools found.' : names.join('\n')
}

/**
 * Tools that are added during the conversation, as Codex does, are available from its beginning elsewhere. Of two with one name the later
 * one counts, in the place of the earlier one: a tool that is found again moves no other, so that the prompt stays in the vendor's cache.
 */
export function readTools(body: JsonObject, skip: SkipObject): Tool[] {
  const maxUses = countOf(body.max_tool_calls)
  const lists = [readToolList(body.tools, 'tools', maxUses, skip)]
  for (const [index, value] of asArray(body.input).entries()) {
    const item = asObject(value)
    if (item?.type === 'additional_tools' || item?.type === 'tool_search_output')
      lists.push(readToolList(item.tools, `input[${index}].tools`, maxUses, skip))
  }
  return [...new Map(lists.flat().map((tool) => [tool.name, tool])).values()]
}

function readToolList(list: unknown, base: string, maxUses: number | null, skip: SkipObject): Tool[] {
  return asArray(list).flatMap((value, index): Tool[] => {
    const tool = asObject(value)
    if (tool === null) return []
    const path = `${base}[${index}]`
    const type = asString(tool.type)
    const named = { path, name: asString(tool.name), description: asText(tool.description) }
    if (type === 'function') {
      const strict = typeof tool.strict === 'boolean' ? tool.strict : null
      return [{ ...named, kind: 'function', schema: tool.parameters ?? null, strict }]
    }
    if (type === 'custom') {
      return [{ ...named, kind: 'custom', schema: null, strict: null, grammar: tool.format }]
    }
    if (type === toolSearch && tool.execution === 'client') {
      const schema = tool.parameters ?? null
      return [{ ...named, kind: 'function', name: toolSearch, schema, strict: null, findsTools: true }]
    }
    if (searches.has(type)) {
      const search = readSearch(tool, maxUses)
      return [{ ...named, kind: 'search', name: searchName, schema: null, strict: null, search }]
    }
    if (type === 'namespace') {
      const inner = readToolList(tool.tools, `${path}.tools`, maxUses, skip)
      return putWithin(inner, named.name, named.description)
    }
    if (type === toolSearch) checkType(tool.execution, 't', () => `${path}.execution`)
    skip(tool, `tools:${type}`, `${path}.type`)
    if (type !== imageTool) return []
    return [{ ...named, kind: 'hosted', name: imageTool, schema: null, strict: null, type, options: tool }]
  })
}

/** `max_tool_calls` limits calls of hosted tools; search is the only one that is translated. */
function readSearch(tool: JsonObject, maxUses: number | null): SearchOptions {
  const allowed = asArray(asObject(tool.filters)?.allowed_domains).filter((domain) => typeof domain === 'string')
  return {
    allowedDomains: allowed.length > 0 ? allowed : null,
    blockedDomains: null,
    maxUses,
    contextSize: asText(tool.search_context_size),
    location: tool.user_location ?? null,
  }
}

export function readToolChoice(value: unknown, skip: SkipObject): ToolChoice | null {
  const path = 'tool_choice'
  const plain = { path, names: [], required: false }
  if (value === 'auto' || value === 'none') return { ...plain, mode: value }
  if (value === 'required') return { ...plain, mode: 'any', required: true }
  const choice = asObject(value)
  if (typeof value === 'string') throw new RequestError(path, 'is not a known choice')
  if (choice === null) return null
  if (choice.type === 'function' || choice.type === 'custom') {
    return { path, mode: 'any', names: [asString(choice.name)], required: true }
  }
  if (choice.type === imageTool) return { path, mode: 'any', names: [imageTool], required: true }
  if (searches.has(asString(choice.type))) return { path, mode: 'any', names: [searchName], required: true }
  if (choice.type === 'allowed_tools') {
    const tools = asArray(choice.tools).map(asObject)
    const names = tools.flatMap((tool) => asText(tool?.name) ?? [])
    // Hosted tools have no names, so a choice of only those would look like a choice of nothing.
    if (names.length === tools.length) return { path, mode: 'some', names, required: choice.mode === 'required' }
  }
  skip(choice, 'tool_choice:hosted', `${path}.type`)
  return null
}
