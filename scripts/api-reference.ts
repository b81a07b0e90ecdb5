import type { OpenAPI } from '@orpc/openapi'
import { type ListedOperation, listOperations } from '../src/admin/contract/operations.ts'
import { openApiDocument } from '../src/admin/open-api.ts'
import { version } from '../src/daemon/version.ts'

/** As much of a JSON schema as the page tells of. */
interface Schema {
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: unknown[]
  const?: unknown
  default?: unknown
  description?: string
  additionalProperties?: Schema | boolean
}

const intro = `# Admin API

Every operation is a POST with a JSON object to the console's address, authenticated by an API token as
\`Authorization: Bearer spt_…\`. The console's \`/api/openapi.json\` describes the same operations for programs, and
[cli.md](cli.md) the commands and their flags. A failed call returns
\`{"code", "status", "message", "data": {"hint"}}\`: \`invalid\` 400, \`refused\` 403, \`not_found\` 404, \`conflict\` 409,
\`degraded\` 503. A stream consists of server-sent events whose \`data\` is one JSON document each.

This page is generated from the contract by \`npm run reference\`.
`

/** `docs/reference/api.md`, made from the OpenAPI document of the contract. */
export async function apiReference(): Promise<string> {
  const document = await openApiDocument(version)
  return [intro, ...listOperations().map((operation) => writeOperation(operation, document))].join('\n')
}

function writeOperation({ name, path, meta }: ListedOperation, document: OpenAPI.Document): string {
  const address = `/${path.join('/')}`
  const described = document.paths?.[address]?.post
  const input = bodyOf(described?.requestBody)
  const answers = described?.responses as Record<string, unknown> | undefined
  const output = bodyOf(answers?.['200'])
  const fields = Object.entries(input?.properties ?? {})
  return [
    `## ${name}`,
    '',
    `${meta.summary}. \`POST /api${address}\`, role ${meta.role}${meta.effect === 'read' ? ', changes nothing' : ''}.`,
    '',
    ...(fields.length === 0 ? ['No fields.', ''] : writeFields(fields, input?.required ?? [])),
    `Answers ${describeAnswer(meta.show.as, output)}.`,
    '',
  ].join('\n')
}

function writeFields(fields: readonly [string, Schema][], required: readonly string[]): string[] {
  return [
    '| field | type | |',
    '|---|---|---|',
    ...fields.map(([name, schema]) => {
      const must = required.includes(name) ? 'required; ' : ''
      const fallback = schema.default === undefined ? '' : `; default \`${JSON.stringify(schema.default)}\``
      return `| \`${name}\` | ${typeOf(schema)} | ${must}${escapeCell(schema.description ?? '')}${fallback} |`
    }),
    '',
  ]
}

function describeAnswer(shown: string, output: Schema | null): string {
  if (shown === 'live' || shown === 'file') return 'a stream of events'
  if (output === null) return 'nothing'
  const whole = output.items === undefined ? output : output.items
  const names = Object.keys(whole.properties ?? {})
  const list = names.map((name) => `\`${name}\``).join(', ')
  if (names.length === 0) return typeOf(output)
  return output.items === undefined ? `an object: ${list}` : `a list of objects: ${list}`
}

/** Of a request or of an answer: both keep the schema at the same place. */
function bodyOf(holder: unknown): Schema | null {
  const content = (holder as { content?: Record<string, { schema?: Schema }> } | undefined)?.content
  return content?.['application/json']?.schema ?? null
}

function typeOf(schema: Schema): string {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ')
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ')
  if (schema.type === 'array') return `list of ${schema.items === undefined ? 'anything' : typeOf(schema.items)}`
  if (schema.type === 'object' && schema.properties === undefined) return 'object of text'
  return [schema.type ?? 'anything']
    .flat()
    .map((type) => (type === 'string' ? 'text' : type))
    .join(' or ')
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
