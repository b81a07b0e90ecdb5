import type { Fault } from '../../core/errors.ts'
import { type Member, scanObject } from '../../core/json-scan.ts'
import type { Inspection, Match } from '../contract.ts'
import { readValue } from '../json-value.ts'
import { plainInspection } from '../plain-inspection.ts'
import { forwardedQuery, readQuery } from '../query.ts'
import { isFault, readModel, readOutputLimit, readStream, scanBody } from '../request-body.ts'
import { plainMediaQuery, readAlt, refuseForm } from './answer-form.ts'
import { modelName } from './endpoints.ts'
import { findModelSpans, modelHolders } from './model-spans.ts'
import { referringNames } from './references.ts'
import { inspectSetup } from './setup-frame.ts'

/** Both JSON spellings are taken (wire/lanes.md, section 3.2). */
const generationConfigs = ['generationConfig', 'generation_config']
const outputLimits = ['maxOutputTokens', 'max_output_tokens']
const choices = ['candidateCount', 'candidate_count']

export function inspect(match: Match, query: string, body: Buffer): Inspection | Fault {
  const { endpoint } = match
  const found = inspectHead(match, query)
  if (isFault(found) || !endpoint.takes.includes('json')) return found
  // The start of an upload may come with nothing to say about the file.
  if (body.length === 0 && endpoint.model === 'none') return found
  if (endpoint.mints !== undefined) return inspectSetup(found, body)
  return endpoint.model === 'path' ? inspectNamed(match, found, body) : inspectBody(match, found, body)
}

/** All that is known without a body. */
export function inspectHead(match: Match, query: string): Inspection | Fault {
  const { endpoint, pathModel } = match
  const plain = plainMediaQuery(forwardedQuery(query))
  const odd = endpoint.served === 'provider' ? refuseForm(endpoint, plain) : null
  if (odd !== null) return odd
  const streamed = endpoint.model === 'path' ? endpoint.stream !== null : asksForStream(match, plain)
  const found = plainInspection(pathModel, plain)
  found.streamed = streamed
  found.framing = streamed ? framingOf(match, plain) : null
  found.stores = endpoint.object?.effect === 'make'
  return found
}

/** An interaction that is stored comes as a stream when the query says so. */
function asksForStream({ endpoint }: Match, query: string): boolean {
  return endpoint.stream !== null && endpoint.method === 'GET' && readQuery(query).get('stream') === 'true'
}

function framingOf({ endpoint }: Match, query: string): Inspection['framing'] {
  return readAlt(query) === 'sse' ? 'sse' : endpoint.stream
}

/** The model is in the path, and may stand in the body again. */
function inspectNamed(match: Match, found: Inspection, body: Buffer): Inspection | Fault {
  const watch = { names: referringNames, seen: false }
  const scan = scanBody(body, [...generationConfigs, ...modelHolders(match)], watch)
  if (isFault(scan)) return scan
  const modelSpans = findModelSpans(match, body, scan.members)
  if (isFault(modelSpans)) return modelSpans
  return { ...found, modelSpans, outputLimit: readConfiguredLimit(body, scan.members), mayRefer: watch.seen }
}

/** The model is in the body, with or without `models/`; or an interaction is with an agent, and names none. */
function inspectBody({ endpoint }: Match, found: Inspection, body: Buffer): Inspection | Fault {
  const watch = { names: referringNames, seen: false }
  const scan = scanBody(body, ['model', 'stream', 'store', ...generationConfigs], watch)
  if (isFault(scan)) return scan
  const { members } = scan
  const stores = found.stores && !members.some((member) => member.name === 'store' && readValue(body, member) === false)
  const named = endpoint.model === 'none' ? noModel : readModel(body, members, endpoint.model === 'body-optional')
  if (isFault(named)) return named
  const model = named.model === null ? null : modelName(named.model)
  const outputLimit = readConfiguredLimit(body, members)
  const read = { ...found, stores, model, modelSpans: named.spans, outputLimit, mayRefer: watch.seen }
  const streamed = endpoint.stream === null ? false : readStream(body, members)
  if (typeof streamed !== 'boolean') return streamed
  return streamed ? { ...read, streamed, framing: 'sse' } : read
}

const noModel = { model: null, spans: [] }

function readConfiguredLimit(body: Buffer, members: readonly Member[]): number | null {
  const configuration = members.findLast(({ name }) => generationConfigs.includes(name))
  if (configuration === undefined) return null
  const within = scanObject(body, [...outputLimits, ...choices], configuration)
  return within.ok ? readOutputLimit(body, within.members, outputLimits, choices) : null
}
