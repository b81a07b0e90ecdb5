import { asObject, type JsonObject } from '../../core/json/json-value.ts'
import type { TranslationTarget } from '../codec.ts'
import type { Conversation, Tool, ToolChoice } from '../conversation.ts'
import { customToolSchema } from '../custom-tools.ts'
import { foreignTool, imageTool } from '../foreign-tool.ts'
import { toolNameFor } from '../ids.ts'
import type { Ledger } from '../ledger.ts'
import { toolSchemaPath } from '../schema/schema-paths.ts'
import { forcesSearch, searchAllowed } from '../search-choice.ts'
import type { SchemaWriter } from './write-schema.ts'

export function writeTools(
  conversation: Conversation,
  { vertex }: TranslationTarget,
  schemas: SchemaWriter,
  ledger: Ledger,
): JsonObject {
  const functionDeclarations = conversation.tools.flatMap((tool) => writeDeclaration(tool, schemas, ledger) ?? [])
  const search = searchAllowed(conversation)
  if (search !== undefined && functionDeclarations.length > 0) {
    ledger.refuse(search.path, 'its web search cannot be combined with functions in one request')
  }
  const written = [
    ...(functionDeclarations.length > 0 ? [{ functionDeclarations }] : []),
    ...(search === undefined ? [] : [writeSearch(search, vertex === true, ledger)]),
  ]
  return written.length === 0 ? {} : { tools: written }
}

function writeDeclaration(tool: Tool, schemas: SchemaWriter, ledger: Ledger): JsonObject | null {
  const described = {
    name: toolNameFor('generate', tool.name),
    ...(tool.description !== null && { description: tool.description }),
  }
  switch (tool.kind) {
    case 'function': {
      if (tool.strict === true) ledger.lose(`${tool.path}.${ledger.from === 'chat' ? 'function.strict' : 'strict'}`)
      const schema = asObject(tool.schema)
      // A function without parameters has no schema: some models reject an object without properties.
      if (schema === null || isEmpty(schema)) return described
      return { ...described, parametersJsonSchema: schemas.write(schema, toolSchemaPath(ledger.from, tool.path)) }
    }
    case 'custom':
      // The table reports the grammar as approximated: it is in the parameter's description.
      return { ...described, parametersJsonSchema: customToolSchema(tool) }
    case 'search':
      return null
    case 'hosted':
      if (tool.name === imageTool) return null
      ledger.refuse(`${tool.path}.type`, foreignTool(tool))
      return null
  }
}

function isEmpty({ type, properties, ...others }: JsonObject): boolean {
  const has = (keyword: string) => others[keyword] !== undefined
  const open =
    asObject(others.additionalProperties) !== null ||
    ['$ref', 'anyOf', 'oneOf', 'allOf', 'patternProperties', 'propertyNames', 'minProperties'].some(has)
  return (type === 'object' || type === undefined) && !open && Object.keys(asObject(properties) ?? {}).length === 0
}

/** Options that restrict a search must be kept, or the request is refused; hints are lost. */
function writeSearch({ path, search }: Tool, excludes: boolean, ledger: Ledger): JsonObject {
  const blocked = search?.blockedDomains ?? []
  if (blocked.length > 0 && !excludes) ledger.refuse(path, 'its web search cannot leave domains out (Vertex can)')
  if (search?.allowedDomains?.length) ledger.refuse(path, 'its web search cannot be restricted to domains')
  if (search?.maxUses) ledger.refuse(path, 'its web search cannot be limited to a number of searches')
  if (search?.contextSize && search.contextSize !== 'medium') ledger.lose(`${path}.search_context_size`)
  if (search?.location) ledger.lose(`${path}.user_location`)
  return { googleSearch: blocked.length > 0 ? { excludeDomains: blocked } : {} }
}

/** A search is only offered here: the model decides whether to use it. */
export function writeToolConfig(conversation: Conversation, ledger: Ledger): JsonObject {
  const { toolChoice: choice, tools } = conversation
  const functions = tools.some(({ kind }) => kind === 'function' || kind === 'custom')
  if (choice === null || choice.names[0] === imageTool) return {}
  if (forcesSearch(conversation) || (!functions && choice.mode === 'any')) {
    ledger.lose(choice.path)
    return {}
  }
  if (!functions) return {}
  return { toolConfig: { functionCallingConfig: writeMode(choice) } }
}

function writeMode({ mode, names, required }: ToolChoice): JsonObject {
  const allowed = names.length === 0 ? {} : { allowedFunctionNames: names.map((name) => toolNameFor('generate', name)) }
  switch (mode) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'any':
      return { mode: 'ANY', ...allowed }
    case 'some':
      // Names are only allowed if a call is forced, or if calls must match their schemas.
      return { mode: required ? 'ANY' : 'VALIDATED', ...allowed }
  }
}
