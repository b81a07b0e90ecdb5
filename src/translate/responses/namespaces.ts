import type { Tool } from '../conversation.ts'

/** For formats without namespaces a tool's name combines both, as in Codex's own names for tools of MCP servers. */
export function nameWithin(namespace: string, name: string): string {
  return namespace.endsWith('__') ? namespace + name : `${namespace}__${name}`
}

/** The description of a namespace goes to the first of its tools. */
export function putWithin(tools: readonly Tool[], namespace: string, description: string | null): Tool[] {
  return tools.map((tool, index) => ({
    ...tool,
    name: nameWithin(namespace, tool.name),
    within: { namespace, name: tool.name },
    description: index > 0 || description === null ? tool.description : join(description, tool.description),
  }))
}

function join(...texts: (string | null)[]): string {
  return texts.filter((text) => text !== null && text !== '').join('\n\n')
}
