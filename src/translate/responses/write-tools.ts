import type { JsonObject } from '../../core/json/json-value.ts'
import type { TranslationTarget } from '../codec.ts'
import type { SearchOptions, Tool, ToolChoice } from '../conversation.ts'
import { customToolSchema, flatGrammar } from '../custom-tools.ts'
import { foreignTool } from '../foreign-tool.ts'
import { toolNameFor } from '../ids.ts'
import type { Ledger } from '../ledger.ts'
import { functionSchema, isStrictTool } from '../schema/openai.ts'
import { forcesSearch, isSearch } from '../search-choice.ts'
import { cacheMarkPath } from '../setting-paths.ts'

/** Servers other than OpenAI's own know only functions. */
export function writeTools(tools: readonly Tool[], { compatible }: TranslationTarget, ledger: Ledger): JsonObject[] {
  return tools.flatMap((tool) => {
    if (tool.cacheMark !== undefined) ledger.lose(cacheMarkPath(ledger.from, tool.path))
    if (compatible && tool.kind === 'search') {
      ledger.refuse(tool.path, 'this provider hosts no web search')
      return []
    }
    const asFunction = compatible && tool.kind === 'custom'
    if (asFunction && tool.grammar !== undefined)
      ledger.lose(`${tool.path}.${ledger.from === 'chat' ? 'custom.format' : 'format'}`)
    const known: Tool = asFunction ? { ...tool, kind: 'function', schema: customToolSchema(tool) } : tool
    const written = writeTool(known, ledger)
    return written === null ? [] : [written]
  })
}

/** For requests, and for answers that repeat the client's tools (`ledger` null). */
export function writeTool(tool: Tool, ledger: Ledger | null): JsonObject | null {
  const name = ledger === null ? tool.name : toolNameFor('responses', tool.name)
  const described = { name, ...(tool.description !== null && { description: tool.description }) }
  switch (tool.kind) {
    case 'function':
      if (tool.findsTools === true && ledger === null) {
        const { description, schema: parameters } = tool
        return { type: tool.name, execution: 'client', description, parameters }
      }
      return {
        type: 'function',
        ...described,
        parameters: (ledger === null ? tool.schema : functionSchema(tool.schema)) ?? { type: 'object', properties: {} },
        // Always written: the default tries to be strict, and then fills in optional arguments.
        strict: ledger === null ? (tool.strict ?? true) : isStrictTool(tool, ledger),
      }
    case 'custom':
      return { type: 'custom', ...described, ...(tool.grammar !== undefined && { format: flatGrammar(tool.grammar) }) }
    case 'search':
      return writeSearch(tool, ledger)
    case 'hosted':
      ledger?.refuse(`${tool.path}.type`, foreignTool(tool))
      return tool.options ?? null
  }
}

function writeSearch({ path, search }: Tool, ledger: Ledger | null): JsonObject {
  const { allowedDomains, blockedDomains, contextSize, location } = search ?? blankSearch
  if (blockedDomains !== null && blockedDomains.length > 0) {
    ledger?.refuse(path, 'its web search cannot leave domains out')
  }
  return {
    type: 'web_search',
    ...(allowedDomains !== null && { filters: { allowed_domains: allowedDomains } }),
    ...(contextSize !== null && { search_context_size: contextSize }),
    ...(location !== null && { user_location: location }),
  }
}

const blankSearch: SearchOptions = {
  allowedDomains: null,
  blockedDomains: null,
  maxUses: null,
  contextSize: null,
  location: null,
}

/** Every provider rejects a choice without tools. */
export function writeToolChoice(
  choice: ToolChoice | null,
  tools: readonly Tool[],
  compatible = false,
  ledger: Ledger | null = null,
): JsonObject {
  if (choice === null || tools.length === 0) return {}
  const { mode, names, required, path } = choice
  // With other tools present, a search cannot be forced reliably.
  if (forcesSearch({ tools, toolChoice: choice })) {
    if (!tools.every(isSearch)) ledger?.lose(path)
    return { tool_choice: tools.every(isSearch) ? 'required' : 'auto' }
  }
  const named = (name: string) => ({
    type: !compatible && tools.some((tool) => tool.kind === 'custom' && tool.name === name) ? 'custom' : 'function',
    name: toolNameFor('responses', name),
  })
  const [only, ...others] = names
  if (mode === 'some' || others.length > 0) {
    const allowed = {
      type: 'allowed_tools',
      mode: required || mode === 'any' ? 'required' : 'auto',
      tools: names.map(named),
    }
    return { tool_choice: allowed }
  }
  if (mode === 'any') return { tool_choice: only === undefined ? 'required' : named(only) }
  return { tool_choice: mode }
}
