import { readCacheWrites } from '../../../core/cost/cache-marks.ts'
import { promptBytes } from '../../../core/cost/prompt-tokens.ts'
import { type Fault, fault } from '../../../core/errors.ts'
import { scanObject } from '../../../core/json/json-scan.ts'
import { readValue } from '../../../core/json/json-value.ts'
import type { ObjectName } from '../../../core/objects/stored-object.ts'
import { quote } from '../../../core/text/quote.ts'
import { readToolsOf } from '../../asked-tools.ts'
import type { Match } from '../../contract.ts'
import type { InputLine } from '../../earlier-work.ts'
import { rejectMisspelled } from '../../request-body.ts'
import { matchEndpoint } from '../endpoints.ts'
import { findCall } from './batch-call.ts'

/** Some vendors' lines leave the URL to the batch. */
const unsaid = ['/v1/chat/completions', '/v1/responses']

/**
 * `{custom_id, method, url, body}`: checked as if each line were sent by itself. Source: wire/lanes.md, section 1.3.
 */
export function readLine(line: Buffer): InputLine | string {
  const scan = scanObject(line, ['url', 'body'])
  if (!scan.ok) return 'it is not a JSON object'
  const odd = rejectMisspelled(line, scan)
  if (odd !== null) return reasonOf(odd)
  const urls = scan.members.filter(({ name }) => name === 'url')
  const [body, ...others] = scan.members.filter(({ name }) => name === 'body')
  // Parsers disagree on which of two counts.
  if (urls.length > 1 || body === undefined || others.length > 0) return 'it must have one `url` and one `body`'
  const said = urls.map((url) => readValue(line, url))
  const asked = line.subarray(body.start, body.end)
  const beside = { tools: readToolsOf(asked), writes: readCacheWrites(asked) }
  const ask: InputLine['ask'] = { model: null, bytes: promptBytes(asked), output: 0, ...beside }
  const found: FoundInLine = { models: [], objects: [], ask }
  for (const url of said.length === 0 ? unsaid : said) {
    const match = findCall(url, matchEndpoint)
    if (match === null)
      return `its url is not an endpoint that this lane serves in batches: ${quote(String(url).slice(0, urlCharacters))}`
    const wrong = readCall(match, asked, found)
    if (wrong !== null) return reasonOf(wrong)
  }
  return found
}

const urlCharacters = 100

interface FoundInLine extends InputLine {
  models: string[]
  objects: ObjectName[]
}

function readCall(match: Match, body: Buffer, found: FoundInLine): Fault | null {
  const inspection = match.endpoint.inspect(match, '', body)
  if ('code' in inspection) return inspection
  // Of a file nobody knows whose policies will apply.
  if (inspection.leavesChoice === true) return unnamedChoice
  const objects = inspection.mayRefer ? match.endpoint.references('', body) : []
  if ('code' in objects) return objects
  if (inspection.model !== null) found.models.push(inspection.model)
  found.ask.model = inspection.model
  const others = (inspection.additionalModels ?? []).map(({ name }) => name)
  found.models.push(...others)
  if (others.length > 0) found.ask.others = others
  found.ask.answers = inspection.answers
  // If it may be either of two calls, any limit in it belongs to the right one.
  if (match.endpoint.outputLimits !== undefined) found.ask.output = inspection.outputLimit ?? (found.ask.output || null)
  found.objects.push(...objects)
  return null
}

const unnamedChoice = fault('invalid_request', '`fallbacks` must name its models in a batch, as `[{"model": "NAME"}]`.')

function reasonOf({ message }: Fault): string {
  return message.charAt(0).toLowerCase() + message.slice(1).replace(/\.$/, '')
}
