import { scanObject } from '../core/json/json-scan.ts'
import { asArray, asObject, asString, type JsonObject, readValue } from '../core/json/json-value.ts'
import type { LaneName } from '../core/lane.ts'

/** Members that make the provider run something itself, whatever their value. */
const hosting = ['mcp_servers', 'container', 'web_search_options', 'code_execution']
const wanted = ['tools', ...hosting]
/** In longer lists tools are not checked one by one. */
const mostBytes = 1024 * 1024

/** Tools that the client runs, by the beginning of their type. All others count as the provider's. */
const ownTypes: Readonly<Record<Exclude<LaneName, 'gemini'>, readonly string[]>> = {
  openai: ['function', 'custom', 'local_shell', 'apply_patch', 'computer'],
  anthropic: ['custom', 'bash', 'text_editor', 'computer', 'memory'],
}
const ownDeclarations = ['functionDeclarations', 'function_declarations']

/** Whether a request may make the provider run its own tools. If that cannot be told, yes. */
export function usesHostedTools(lane: LaneName, body: Buffer): boolean {
  const scan = scanObject(body, wanted)
  if (!scan.ok) return true
  return scan.members.some((member) => {
    const value = member.end - member.start > mostBytes ? undefined : readValue(body, member)
    if (value === null) return false
    if (member.name !== 'tools') return true
    return !Array.isArray(value) || asArray(value).some((tool) => !isOwn(lane, asObject(tool) ?? {}))
  })
}

function isOwn(lane: LaneName, tool: JsonObject): boolean {
  if (lane === 'gemini') return Object.keys(tool).every((name) => ownDeclarations.includes(name))
  const type = asString(tool.type)
  if (type === '') return lane === 'anthropic'
  return ownTypes[lane].some((own) => type === own || type.startsWith(`${own}_`))
}
