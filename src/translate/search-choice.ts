import type { Conversation, Tool } from './conversation.ts'

/** The one name of a web search, which most formats cannot choose as they choose a function. */
export const searchName = 'web_search'

/** Whether the client forces a web search, and not a function of its own that has the same name. */
export function forcesSearch({ tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>): boolean {
  if (toolChoice === null || toolChoice.names.length !== 1 || toolChoice.names[0] !== searchName) return false
  const named = tools.filter(({ name }) => name === searchName)
  return named.length > 0 && named.every(isSearch)
}

export function isSearch({ kind }: Tool): boolean {
  return kind === 'search'
}

/** The search, unless the client says that no tool may be used. Of chat's own, `none` is about functions only. */
export function searchAllowed({ tools, toolChoice }: Pick<Conversation, 'tools' | 'toolChoice'>): Tool | undefined {
  const search = tools.find(isSearch)
  return toolChoice?.mode === 'none' && search?.path !== 'web_search_options' ? undefined : search
}
