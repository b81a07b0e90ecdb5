import type { FormatName } from '../../core/format.ts'

/** Where the client's format has the schema of a tool. */
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

/** Where the client's format has the schema of the answer. */
export function outputSchemaPath(format: FormatName, output: string): string {
  if (format === 'generate') return output
  return format === 'chat' ? `${output}.json_schema.schema` : `${output}.schema`
}
