import type { Endpoint, Lane } from '../src/lanes/contract.ts'
import { lanes } from '../src/lanes/index.ts'

const intro = `# Lanes

Every endpoint of each lane, as the official SDKs call it. Paths are relative to the lane's prefix.

- \`{object}\` is the id of an object that is stored at the provider and belongs to the project and environment that
  created it. A call that names one goes to the credential that holds it. Any other project or environment gets "not
  found", and lists show only the scope's own objects. Other names in braces are parts of that object.
- Routes and policies apply to the model that a call names, and to those that it names besides (\`models\`,
  \`fallbacks\` and \`providerOptions.gateway.models\` to fall back to, \`tools[].model\`), which must be at one
  provider. In a form, models to fall back to are refused with \`invalid_request\`.
- \`"fallbacks": "default"\`, by which a provider chooses itself, is refused where a policy limits models or denies those
  without a price, and in an input file of a batch.
- A call without a model goes to the provider of the object, otherwise to the environment's default provider
  (\`spgw environments edit --default-provider\`).
- What would lead a call elsewhere at a provider that is a gateway itself (\`api_base\`, \`base_url\`, \`api_key\`,
  \`custom_llm_provider\`, maps of fallbacks) is refused with \`invalid_request\`.
- The last column says what a call costs: it is on its record, in USD, and budgets count it.
`

const names = { openai: 'OpenAI', anthropic: 'Anthropic', gemini: 'Gemini' } as const

/** `docs/lanes.md`, made from the tables of endpoints. */
export function laneReference(): string {
  const sorted = Object.keys(names).flatMap((name) => lanes.filter((lane) => lane.name === name))
  return [
    intro,
    ...sorted.map(writeLane),
    'This page is generated from the endpoint tables by `npm run reference`.',
    '',
  ].join('\n')
}

function writeLane(lane: Lane): string {
  const served = lane.endpoints.filter((endpoint) => endpoint.served !== 'nobody')
  const refused = lane.endpoints.filter((endpoint) => endpoint.served === 'nobody')
  return [
    `## ${names[lane.name]}, \`${lane.prefix}\``,
    '',
    '| call | operation | request | response | model | object | charged |',
    '|---|---|---|---|---|---|---|',
    ...served.flatMap((endpoint) => [endpoint, ...additionalCalls(endpoint)].map(writeRow)),
    '',
    ...writeRefused(refused),
  ].join('\n')
}

/** Calls at the same path that its query tells apart. */
function additionalCalls({ path, resumedAs }: Endpoint): Endpoint[] {
  return resumedAs?.path === path ? [{ ...resumedAs, path: `${path}?upload_id=…` }] : []
}

function writeRow(endpoint: Endpoint): string {
  const { operation, method, path, object, requestForms } = endpoint
  const call = method === 'SOCKET' ? `WebSocket \`${path}\`` : `${method} \`${path}\``
  const touched = object === null ? '' : `${object.type.replaceAll('_', ' ')}, ${effects[object.effect]}`
  const cells = [
    call,
    `\`${operation}\``,
    requestForms.map((form) => forms[form]).join(' or '),
    answer(endpoint),
    models[endpoint.model],
    touched,
    charge(endpoint),
  ]
  return `| ${cells.join(' | ')} |`
}

/** What costs nothing has no cost on its record, and no budget counts it. */
function charge({ billed, socket, batchAsks, reportsUsage, startedWork }: Endpoint): string {
  if (socket !== null) return 'by the turn'
  if (batchAsks !== undefined) return 'by its results'
  // Work in the background has not ended with the call.
  if (startedWork !== undefined) return 'yes, once it has ended'
  if (reportsUsage !== undefined) return 'for what it shows the end of'
  return billed ? 'yes' : 'free'
}

const effects = { create: 'created', list: 'listed', use: 'used', delete: 'deleted' } as const
const forms = { json: 'JSON', multipart: 'a form', bytes: 'bytes' } as const
const models = {
  body: 'in the body',
  'body-optional': 'in the body, or none',
  path: 'in the path',
  query: 'in the query',
  none: '',
} as const
const gifts = {
  json: 'JSON',
  'json-or-text': 'JSON or text',
  bytes: 'bytes',
  lines: 'lines of JSON',
  nothing: 'nothing',
} as const

function answer({ method, served, responseForm, stream }: Endpoint): string {
  if (method === 'SOCKET') return 'frames'
  if (served !== 'provider') return "JSON, the gateway's own"
  if (stream === null) return gifts[responseForm]
  return `${gifts[responseForm]} or ${stream === 'sse' ? 'events' : 'a JSON array'}`
}

/** A family has a row for its path and one for what is below; a single call has one. */
function writeRefused(refused: readonly Endpoint[]): string[] {
  if (refused.length === 0) return []
  const calls = new Map(refused.map((endpoint) => [refusedCall(endpoint, refused), endpoint.why ?? '']))
  return [
    "Not served, with the lane's own 404 and the reason on the record:",
    '',
    ...[...calls].map(([call, why]) => `- ${call}: ${why}`),
    '',
  ]
}

export function refusedCall({ method, path }: Endpoint, refused: readonly Endpoint[]): string {
  const top = path.replace(/\/\*$/, '')
  const isFamily = refused.some((other) => other.path === `${top}/*`)
  return isFamily ? `\`${top}\` and below` : `${method} \`${path}\``
}
