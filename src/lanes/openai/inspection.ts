import { type Fault, fault } from '../../core/errors.ts'
import { type Edit, type Member, scanObject, shortValue } from '../../core/json/json-scan.ts'
import { readValue } from '../../core/json/json-value.ts'
import type { WatchedNames } from '../../core/watched-names.ts'
import { additionalNames, withAdditionalModels } from '../additional-models.ts'
import { toolMembers, toolNames } from '../asked-tools.ts'
import type { Endpoint, FormField, Inspection, Match } from '../contract.ts'
import { inspectFormFields } from '../form-request.ts'
import { forwardedQuery, readQuery } from '../query.ts'
import {
  emptyInspection,
  isFault,
  readEndUser,
  readModel,
  readOutput,
  readStream,
  rejectMisspelled,
  scanBody,
} from '../request-body.ts'
import { inspectSession } from './sockets.ts'

/**
 * The patch that makes the provider report usage of a streamed chat or completion; null when the client asked for it
 * itself, or wrote something that only the provider can judge. Of a repeated key the last counts, as in every parser we
 * know.
 */
export function askForUsage(body: Buffer, root: { start: number }, members: readonly Member[]): Edit | Fault | null {
  const options = members.findLast((member) => member.name === 'stream_options')
  if (options === undefined) return insert(root.start + 1, '"stream_options":{"include_usage":true},')
  if (body[options.start] === 0x6e) return replace(options, '{"include_usage":true}')
  const inside = scanObject(body, ['include_usage'], options)
  if (!inside.ok) return null
  const odd = rejectMisspelled(body, inside)
  if (odd !== null) return odd
  const asked = inside.members.at(-1)
  if (asked === undefined)
    return insert(inside.start + 1, inside.empty ? '"include_usage":true' : '"include_usage":true,')
  const value = readValue(body, asked, shortValue)
  return value === false || value === null ? replace(asked, 'true') : null
}

function insert(at: number, text: string): Edit {
  return { span: { start: at, end: at }, text }
}

function replace(member: Member, text: string): Edit {
  return { span: { start: member.start, end: member.end }, text }
}

/** The members that name the end user; the first one wins. */
const endUserNames = ['user', 'safety_identifier']
export const chatLimits = { names: ['max_completion_tokens', 'max_tokens'], choices: ['n'], within: null }
/** All of `best_of` are written, and the best ones sent. */
export const completionLimits = { names: ['max_tokens'], choices: ['n', 'best_of'], prompts: 'prompt', within: null }
export const responseLimits = { names: ['max_output_tokens'], choices: [], within: null }
export const runLimits = { names: ['max_completion_tokens'], choices: [], within: null }
const wanted = [
  'model',
  'stream',
  'stream_options',
  'store',
  'background',
  'audio',
  'stream_format',
  'endpoint',
  'web_search_options',
  'max_tool_calls',
  'tool_choice',
  ...additionalNames,
  ...endUserNames,
  ...chatLimits.names,
  ...chatLimits.choices,
  ...responseLimits.names,
  ...completionLimits.choices,
  completionLimits.prompts,
]

/** What is special about reading one endpoint's JSON body. */
export interface BodyRules {
  /** The member names that refer to objects. Left out: every body is searched for references. */
  watch?: WatchedNames
  /** Rejects requests that this endpoint must not forward. */
  validate?(body: Buffer, members: readonly Member[]): Fault | null
  /** Whether what the endpoint creates is kept at the provider. */
  isStored?(body: Buffer, members: readonly Member[]): boolean
  /** Whether the answer comes as a stream. */
  readStream?(body: Buffer, members: readonly Member[]): boolean | Fault
  /** A stream reports its usage only where the request asks for it. */
  asksForUsage?: true
}

/** Model and query, for endpoints without a body, or with one that says nothing relevant. */
export function inspectHead(match: Match, query: string): Inspection {
  const plain = emptyInspection(match.pathModel, query === '' ? '' : forwardedQuery(query))
  plain.stores = match.endpoint.object?.effect === 'create'
  return plain
}

/** A stored answer is streamed when the query says so. */
export function inspectReplay(match: Match, query: string): Inspection {
  const plain = inspectHead(match, query)
  const streamed = readQuery(plain.query).get('stream') === 'true'
  return streamed ? { ...plain, streamed, framing: 'sse' } : plain
}

export function inspectForm(match: Match, query: string, fields: readonly FormField[]): Inspection | Fault {
  const found = inspectFormFields(match, query, fields)
  return isFault(found) ? found : { ...found, stores: match.endpoint.object?.effect === 'create' }
}

export function inspectJson(rules: BodyRules = {}): Endpoint['inspect'] {
  return (match, query, body) => {
    const { endpoint } = match
    const found = inspectHead(match, query)
    // An empty body is fine where no model must be named.
    if (body.length === 0 && endpoint.model === 'none') return found
    const watch = rules.watch === undefined ? null : { names: rules.watch, seen: false }
    const scan = scanBody(body, wanted, watch)
    if (isFault(scan)) return scan
    const { members } = scan
    const rejected = rules.validate?.(body, members) ?? null
    if (rejected !== null) return rejected
    const named = endpoint.model === 'none' ? noModel : readModel(body, members, endpoint.model === 'body-optional')
    if (isFault(named)) return named
    const { outputLimit, answers } = readOutput(body, members, endpoint.outputLimits)
    found.model = named.model
    found.modelSpans = named.spans
    found.endUser = readEndUser(body, members, endUserNames)
    found.outputLimit = outputLimit
    found.answers = answers
    found.mayRefer = watch === null || watch.seen
    found.mayReplay = scan.sealed
    const streamed = endpoint.stream === null ? false : (rules.readStream ?? readStream)(body, members)
    if (typeof streamed !== 'boolean') return streamed
    found.stores &&= rules.isStored?.(body, members) ?? true
    if (members.some(({ name }) => toolNames.includes(name))) found.tools = toolMembers(members)
    if (endpoint.model !== 'none' && members.some(({ name }) => additionalNames.includes(name))) {
      const more = withAdditionalModels(found, body, members, endpoint.outputLimits)
      if (isFault(more)) return more
    }
    if (!streamed) return found
    const usagePatch = rules.asksForUsage === true ? askForUsage(body, scan, members) : null
    if (usagePatch !== null && isFault(usagePatch)) return usagePatch
    found.streamed = true
    found.framing = 'sse'
    found.usagePatch = usagePatch
    return found
  }
}

const noModel = { model: null, spans: [] }

/** A body that sets up a session, which may name models in several places. */
export function inspectSessionBody(match: Match, query: string, body: Buffer): Inspection | Fault {
  const plain = inspectHead(match, query)
  if (body.length === 0 && match.endpoint.model === 'none') return plain
  const scan = scanBody(body, wanted)
  if (isFault(scan)) return scan
  const session = inspectSession(plain, body)
  return !isFault(session) && session.model === null && match.endpoint.model === 'body' ? noModelNamed : session
}

const noModelNamed = fault('invalid_request', '`session.model` is missing; name the model in the session.', {
  param: 'session.model',
})

/** Speech is streamed as events when the body says so, else it is audio bytes. */
export function asksForEvents(body: Buffer, members: readonly Member[]): boolean {
  return members.some((member) => member.name === 'stream_format' && readValue(body, member, shortValue) === 'sse')
}

/** A completion is stored when its body says so; audio from the model is kept either way. */
export function isCompletionStored(body: Buffer, members: readonly Member[]): boolean {
  return members.some(({ name, start }) => (name === 'store' && body[start] === startOfTrue) || name === 'audio')
}

/** A response is stored unless its body says no; one in the background, and a container that it creates, remain either way. */
export function isResponseStored(body: Buffer, members: readonly Member[]): boolean {
  const refuses = members.some(({ name, start }) => name === 'store' && body[start] === startOfFalse)
  const inBackground = members.some(({ name, start }) => name === 'background' && body[start] === startOfTrue)
  return !refuses || inBackground || body.includes(codeTool) || body.includes(shellTool)
}

const startOfTrue = 0x74
const startOfFalse = 0x66
const codeTool = Buffer.from('"code_interpreter"')
const shellTool = Buffer.from('"shell"')
