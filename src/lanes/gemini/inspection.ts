import { type Fault, fault } from '../../core/errors.ts'
import { type Member, shortValue } from '../../core/json/json-scan.ts'
import { readValue } from '../../core/json/json-value.ts'
import { toolMembers, toolNames } from '../asked-tools.ts'
import type { Endpoint, Inspection, Match } from '../contract.ts'
import { forwardedQuery, readQuery, writeQuery } from '../query.ts'
import { emptyInspection, isFault, readModel, readOutput, readStream, scanBody } from '../request-body.ts'
import { findModelSpans, type ModelWays, modelHolders } from './model-spans.ts'
import { modelName } from './names.ts'
import { referringNames } from './references.ts'

/** Both JSON spellings are accepted (wire/lanes.md, section 3.2). */
const generationConfigs = ['generationConfig', 'generation_config']
export const generateLimits = {
  names: ['maxOutputTokens', 'max_output_tokens'],
  choices: ['candidateCount', 'candidate_count'],
  within: generationConfigs,
}
/** This call is written in one spelling only. */
export const interactionLimits = {
  names: generateLimits.names.toReversed(),
  choices: [],
  within: generationConfigs.toReversed(),
}

/** What is known without a body. */
export function inspectHead(match: Match, query: string): Inspection | Fault {
  const { endpoint, pathModel } = match
  const plain = plainMediaQuery(forwardedQuery(query))
  const odd = endpoint.served === 'provider' ? rejectForm(endpoint, plain) : null
  if (odd !== null) return odd
  const streamed = endpoint.model === 'path' ? endpoint.stream !== null : asksForStream(match, plain)
  const found = emptyInspection(pathModel, plain)
  found.streamed = streamed
  found.framing = streamed ? framingOf(match, plain) : null
  found.stores = endpoint.object?.effect === 'create'
  return found
}

/** A stored interaction is streamed when the query says so. */
function asksForStream({ endpoint }: Match, query: string): boolean {
  return endpoint.stream !== null && endpoint.method === 'GET' && readQuery(query).get('stream') === 'true'
}

function framingOf({ endpoint }: Match, query: string): Inspection['framing'] {
  return readAlt(query) === 'sse' ? 'sse' : endpoint.stream
}

/** The model is in the path; `ways` say where a body repeats it but at its top. */
export function inspectNamed(ways: ModelWays = []): Endpoint['inspect'] {
  const wanted = ['tools', ...generationConfigs, ...modelHolders(ways)]
  return (match, query, body) => {
    const found = inspectHead(match, query)
    if (isFault(found)) return found
    const watch = { names: referringNames, seen: false }
    const scan = scanBody(body, wanted, watch)
    if (isFault(scan)) return scan
    const modelSpans = findModelSpans(ways, match.pathModel ?? '', body, scan.members)
    if (isFault(modelSpans)) return modelSpans
    const output = readOutput(body, scan.members, match.endpoint.outputLimits)
    const read = { ...found, modelSpans, ...output, mayRefer: watch.seen, mayReplay: scan.sealed }
    return withTools(read, scan.members)
  }
}

/** The model is in the body, with or without `models/`. An interaction with an agent names none. */
export function inspectBody(match: Match, query: string, body: Buffer): Inspection | Fault {
  const { endpoint } = match
  const found = inspectHead(match, query)
  // The start of an upload may say nothing about the file.
  if (isFault(found) || (body.length === 0 && endpoint.model === 'none')) return found
  const watch = { names: referringNames, seen: false }
  const scan = scanBody(body, wantedOfBody, watch)
  if (isFault(scan)) return scan
  const { members } = scan
  const stores =
    found.stores && !members.some((member) => member.name === 'store' && readValue(body, member, shortValue) === false)
  const named = endpoint.model === 'none' ? noModel : readModel(body, members, endpoint.model === 'body-optional')
  if (isFault(named)) return named
  const model = named.model === null ? null : modelName(named.model)
  const output = readOutput(body, members, endpoint.outputLimits)
  const seen = { mayRefer: watch.seen, mayReplay: scan.sealed }
  const read = { ...found, stores, model, modelSpans: named.spans, ...output, ...seen }
  const streamed = endpoint.stream === null ? false : readStream(body, members)
  if (typeof streamed !== 'boolean') return streamed
  return withTools(streamed ? { ...read, streamed, framing: 'sse' } : read, members)
}

function withTools(read: Inspection, members: readonly Member[]): Inspection {
  if (members.some(({ name }) => toolNames.includes(name))) read.tools = toolMembers(members)
  return read
}

const wantedOfBody = ['tools', 'model', 'stream', 'store', ...generationConfigs]
const noModel = { model: null, spans: [] }

/** Each also has Google's other spelling, with a `$`. */
const spellings = (name: string) => [name, `$${name}`]

/** `sse`, `json`, or null where the query leaves it to the endpoint. `rejectForm` has rejected all others. */
export function readAlt(query: string): string | null {
  const parameters = readQuery(query)
  return spellings('alt').flatMap((name) => parameters.getAll(name))[0] ?? null
}

/**
 * Google lets the query change the form of an answer: to protobuf or a script (`alt`, `callback`), or to a part of it
 * (`fields`). Such an answer would look broken and count against the provider, or lack its usage.
 */
export function rejectForm(endpoint: Endpoint, query: string): Fault | null {
  const parameters = readQuery(query)
  for (const name of [...spellings('fields'), ...spellings('callback')]) {
    if (parameters.has(name)) return rejectParameter(name, `The query parameter ${name} is not accepted; leave it out.`)
  }
  const forms = new Set(spellings('alt').flatMap((name) => parameters.getAll(name)))
  const known = knownForms(endpoint)
  if (forms.size > 1) return rejectParameter('alt', 'The query has two values of alt; send one.')
  if ([...forms].every((form) => known.includes(form))) return null
  return rejectParameter('alt', `The query parameter alt may be ${known.join(' or ')} here.`)
}

function knownForms({ stream, responseForm }: Endpoint): string[] {
  if (responseForm === 'bytes') return ['media', 'json']
  return stream === null ? ['json'] : ['json', 'sse']
}

/**
 * The SDKs take the id from a file's URI only where it starts with https. From any other they make a path and ask for
 * `?alt=media:download&alt=media`.
 */
export function plainMediaQuery(query: string): string {
  const forms = readQuery(query).getAll('alt')
  return forms.some((form) => form.startsWith('media:')) ? writeQuery(query, 'alt', 'media') : query
}

function rejectParameter(param: string, message: string): Fault {
  return fault('invalid_request', message, { param })
}
