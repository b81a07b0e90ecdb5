import type { Conversation, Tool } from './conversation.ts'

/** The name of a web search. Most formats cannot choose it as they choose a function. */
export const searchName = 'web_search'

/** Whether the client forces a web search, and not its own function of the same name. */
export function forcesSearch({ tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>): boolean {
  if (toolChoice === null || toolChoice.names.length !== 1 || toolChoice.names[0] !== searchName) return false
  const named = tools.filter(({ name }) => name === searchName)
  return named.length > 0 && named.every(isSearch)
}

export function isSearch({ kind }: Tool): boolean {
  return kind === 'search'
}

/** The search, unless the client disallows all tools. Chat's `none` only applies to functions. */
export function searchAllowed({ tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>): Tool | undefined {
  const search = tools.find(isSearch)
  return toolChoice?.mode === 'none' && search?.path !== 'web_search_options' ? undefined : search
}
