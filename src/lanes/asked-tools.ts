import { type AskedTools, imageSizeOf } from '../core/cost/asked-tools.ts'
import { type Member, scanObject, shortValue } from '../core/json/json-scan.ts'
import { asArray, asObject, asText, isCount, type JsonObject, readValue } from '../core/json/json-value.ts'

/** Members that let the provider's own tools do something. Most requests have none. */
export const toolNames = ['tools', 'web_search_options', 'max_tool_calls', 'tool_choice']

export function toolMembers(members: readonly Member[]): readonly Member[] {
  return members.filter(({ name }) => toolNames.includes(name))
}

/** Most lists of tools hold none of these words, and are not parsed. */
const telling = ['web_search', 'image_generation', 'google', 'WebSearch', 'file_search', 'code_inter', '\\u'].map(
  (text) => Buffer.from(text),
)
/** Longer lists are not parsed. */
const mostBytes = 1024 * 1024

/** No answer has more: an absurd number must not count as an amount in sums. */
const mostSearches = 10_000

/** Gemini's tools that search; the newer calls name them as their type. */
const searching = ['google_search', 'google_search_retrieval', 'google_maps', 'enterprise_web_search'].concat([
  ...['googleSearch', 'googleSearchRetrieval', 'googleMaps', 'enterpriseWebSearch'],
])

/**
 * What a request lets hosted tools do that is paid apart, whatever its format; null: nothing. `members`: of the body, by `toolMembers`;
 * undefined: it has none.
 */
export function readAskedTools(body: Buffer, members: readonly Member[] | undefined): AskedTools | null {
  if (members === undefined) return null
  const asked: Required<AskedTools> = {
    searches: 0,
    fileSearches: 0,
    containers: 0,
    images: 0,
    imageModel: null,
    imageSize: null,
  }
  const usable = choosesNone(body, members) ? members.filter(({ name }) => name !== 'tools') : members
  const tools = usable.flatMap((member) => toolsIn(body, member))
  if (tools.length === 0) return null
  const most = members.findLast(({ name }) => name === 'max_tool_calls')
  const calls = most === undefined ? null : readValue(body, most, shortValue)
  for (const tool of tools) addTool(asked, tool, isCount(calls) ? calls : null)
  asked.searches = Math.min(asked.searches, mostSearches)
  asked.fileSearches = Math.min(asked.fileSearches, mostSearches)
  return asked.searches + asked.fileSearches + asked.containers + asked.images === 0 ? null : asked
}

/** The same of a body whose members nobody has looked for. */
export function readToolsOf(body: Buffer): AskedTools | null {
  const scan = scanObject(body, toolNames)
  return scan.ok ? readAskedTools(body, toolMembers(scan.members)) : null
}

/** The model may then use no tool, though it may have some. */
function choosesNone(body: Buffer, members: readonly Member[]): boolean {
  const choice = members.findLast(({ name }) => name === 'tool_choice')
  if (choice === undefined) return false
  const value = readValue(body, choice, shortValue)
  return value === 'none' || asObject(value)?.type === 'none'
}

function toolsIn(body: Buffer, member: Member): JsonObject[] {
  const { name, start, end } = member
  if (name === 'max_tool_calls' || name === 'tool_choice') return []
  const bytes = body.subarray(start, end)
  if (name === 'tools' && (bytes.length > mostBytes || telling.every((word) => !bytes.includes(word)))) return []
  const value = readValue(body, member)
  if (name === 'web_search_options') return asObject(value) === null ? [] : [{ type: 'web_search' }]
  return asArray(value).map((tool) => asObject(tool) ?? {})
}

/** `calls`: how many calls of tools the request allows in all. */
function addTool(asked: Required<AskedTools>, tool: JsonObject, calls: number | null): void {
  const type = asText(tool.type) ?? ''
  if (type === 'image_generation') {
    // Hardly any answer has more than one.
    asked.images = Math.min(1, calls ?? 1)
    asked.imageModel = asText(tool.model)
    asked.imageSize = imageSizeOf(asText(tool.size), asText(tool.quality))
  } else if (type === 'file_search') asked.fileSearches += calls ?? 1
  // One that it names was paid for by whoever created it.
  else if (type === 'code_interpreter') asked.containers += typeof tool.container === 'string' ? 0 : 1
  else if (type.startsWith('web_search')) asked.searches += isCount(tool.max_uses) ? tool.max_uses : (calls ?? 1)
  else if (searching.includes(type) || searching.some((name) => asObject(tool[name]) !== null)) asked.searches++
}
