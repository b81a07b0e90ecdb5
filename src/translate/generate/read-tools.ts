import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { Tool, ToolChoice } from '../conversation.ts'
import { RequestError } from '../request-fault.ts'
import { schemaFromOpenApi } from '../schema/openapi.ts'
import { orderProperties } from '../schema/property-order.ts'
import { listOf } from './read-contents.ts'

/** Tools that run at Google have rows in the table of fields, which refuse them. */
export function readTools(tools: unknown): Tool[] {
  return listOf(tools).flatMap((value, index) => {
    const tool = asObject(value) ?? {}
    const path = `tools[${index}]`
    const declared = listOf(tool.functionDeclarations).flatMap((declaration, at) => {
      const object = asObject(declaration)
      return object === null ? [] : [readDeclaration(object, `${path}.functionDeclarations[${at}]`)]
    })
    const member = asObject(tool.googleSearch) === null ? 'googleSearchRetrieval' : 'googleSearch'
    const search = asObject(tool[member])
    return search === null ? declared : [...declared, readSearch(search, `${path}.${member}`)]
  })
}

function readDeclaration(declaration: JsonObject, path: string): Tool {
  const { parameters, parametersJsonSchema } = declaration
  const openApi = asObject(parameters) === null ? null : schemaFromOpenApi(parameters)
  const json = asObject(parametersJsonSchema)
  return {
    path,
    kind: 'function',
    name: asString(declaration.name),
    description: asText(declaration.description),
    schema: json === null ? openApi : orderProperties(json),
    strict: null,
  }
}

function readSearch(search: JsonObject, path: string): Tool {
  const excluded = asArray(search.excludeDomains).filter((domain) => typeof domain === 'string')
  return {
    path,
    kind: 'search',
    name: 'web_search',
    description: null,
    schema: null,
    strict: null,
    search: {
      allowedDomains: null,
      blockedDomains: excluded.length > 0 ? excluded : null,
      maxUses: null,
      contextSize: null,
      location: null,
    },
  }
}

/** Whether Google accepts function names in this mode. */
export function namesCount(config: JsonObject | null): boolean {
  return /^(?:ANY|VALIDATED)$/i.test(asString(config?.mode))
}

export function readToolConfig(config: JsonObject | null): ToolChoice | null {
  if (config === null) return null
  const names = asArray(config.allowedFunctionNames).filter((name) => typeof name === 'string')
  const path = 'toolConfig.functionCallingConfig'
  switch (asString(config.mode).toUpperCase()) {
    case 'AUTO':
      return { path, mode: 'auto', names: [], required: false }
    case 'NONE':
      return { path, mode: 'none', names: [], required: false }
    case 'ANY':
      return { path, mode: names.length > 1 ? 'some' : 'any', names, required: true }
    // The model answers with text, or with a call that matches its schema.
    case 'VALIDATED':
      return { path, mode: names.length > 0 ? 'some' : 'auto', names, required: false }
    case '':
    case 'MODE_UNSPECIFIED':
      return null
    default:
      throw new RequestError(`${path}.mode`, 'is not a known mode')
  }
}
