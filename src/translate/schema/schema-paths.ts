import type { FormatName } from '../../core/format.ts'

/** The path of a tool's schema in the client's format. */
export function toolSchemaPath(format: FormatName, tool: string): string {
  switch (format) {
    case 'chat':
      return tool.startsWith('tools') ? `${tool}.function.parameters` : `${tool}.parameters`
    case 'messages':
      return `${tool}.input_schema`
    default:
      return `${tool}.parameters`
  }
}

/** The path of the answer's schema in the client's format. */
export function outputSchemaPath(format: FormatName, output: string): string {
  if (format === 'generate') return output
  return format === 'chat' ? `${output}.json_schema.schema` : `${output}.schema`
}

/** No record or header shows more of a path. */
const longestPath = 200

/**
 * The path of what is inside of a schema. Names of properties are as long as the client likes, and stand in the path of each loss below
 * them: what is longer than anybody is shown goes no further.
 */
export function pathBelow(path: string, step: string): string {
  return path.length > longestPath ? path : `${path}${step.slice(0, longestPath)}`
}
