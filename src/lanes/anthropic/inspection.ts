import type { Fault } from '../../core/errors.ts'
import { type Member, scanObject } from '../../core/json/json-scan.ts'
import { additionalNames, withAdditionalModels } from '../additional-models.ts'
import { toolMembers, toolNames } from '../asked-tools.ts'
import type { Inspection, Match } from '../contract.ts'
import { forwardedQuery } from '../query.ts'
import {
  emptyInspection,
  isFault,
  readEndUser,
  readModel,
  readOutput,
  readStream,
  type ScannedObject,
  scanBody,
} from '../request-body.ts'
import { readBatchModels } from './batch-models.ts'
import { referringNames } from './objects.ts'

export const messageLimits = { names: ['max_tokens'], choices: [], within: null }
export const completeLimits = { names: ['max_tokens_to_sample'], choices: [], within: null }
const limitNames = [...messageLimits.names, ...completeLimits.names]
const wanted = ['model', 'stream', 'metadata', 'thread', 'requests', 'tool_choice', ...additionalNames, ...limitNames]

/** Model and query, for endpoints without a JSON body. */
export function inspectHead(match: Match, query: string): Inspection {
  const plain = emptyInspection(match.pathModel, forwardedQuery(query))
  plain.stores = match.endpoint.object?.effect === 'create'
  return plain
}

/** A call that names its model in the body and leaves nothing at the provider. */
export function inspectCall(match: Match, query: string, body: Buffer): Inspection | Fault {
  const read = scanCall(match, query, body)
  return isFault(read) ? read : readCall(match, read, body, false)
}

export function inspectMessages(match: Match, query: string, body: Buffer): Inspection | Fault {
  const read = scanCall(match, query, body)
  return isFault(read) ? read : readCall(match, read, body, leavesSomething(body, read.members))
}

/** A batch may name several models. */
export function inspectBatch(match: Match, query: string, body: Buffer): Inspection | Fault {
  const read = scanCall(match, query, body)
  if (isFault(read)) return read
  const named = readBatchModels(body, read.members)
  if (isFault(named)) return named
  const [first, ...additionalModels] = named.models
  const { asks, leavesChoice } = named
  const found: Inspection = { ...read.plain, model: first?.name ?? null, modelSpans: first?.spans ?? [], asks }
  if (leavesChoice) found.leavesChoice = true
  return additionalModels.length === 0 ? found : { ...found, additionalModels }
}

interface ScannedCall {
  plain: Inspection
  members: ScannedObject['members']
}

function scanCall(match: Match, query: string, body: Buffer): ScannedCall | Fault {
  const watch = { names: referringNames, seen: false }
  const scan = scanBody(body, wanted, watch)
  if (isFault(scan)) return scan
  const plain = inspectHead(match, query)
  plain.mayRefer = watch.seen
  plain.mayReplay = scan.sealed
  return { plain, members: scan.members }
}

function readCall(
  { endpoint }: Match,
  { plain, members }: ScannedCall,
  body: Buffer,
  stores: boolean,
): Inspection | Fault {
  const named = readModel(body, members, false)
  if (isFault(named)) return named
  const endUser = readMetadataUser(body, members)
  const output = readOutput(body, members, endpoint.outputLimits)
  const single: Inspection = { ...plain, model: named.model, modelSpans: named.spans, endUser, ...output, stores }
  if (members.some(({ name }) => toolNames.includes(name))) single.tools = toolMembers(members)
  const namesMore = members.some(({ name }) => additionalNames.includes(name))
  const found = namesMore ? withAdditionalModels(single, body, members, endpoint.outputLimits) : single
  if (isFault(found)) return found
  if (endpoint.stream === null) return found
  const streamed = readStream(body, members)
  if (typeof streamed !== 'boolean') return streamed
  return streamed ? { ...found, streamed, framing: 'sse' } : found
}

const codeTool = Buffer.from('"code_execution_')

/**
 * Whether something remains at the provider: a stored conversation, or the container and files of a tool that runs
 * code.
 */
function leavesSomething(body: Buffer, members: readonly Member[]): boolean {
  return members.some(
    ({ name, start, end }) => name === 'thread' || (name === 'tools' && body.subarray(start, end).includes(codeTool)),
  )
}

/** `metadata.user_id` */
function readMetadataUser(body: Buffer, members: readonly Member[]): string | null {
  const metadata = members.find((member) => member.name === 'metadata')
  if (metadata === undefined) return null
  const within = scanObject(body, ['user_id'], metadata)
  return within.ok ? readEndUser(body, within.members, ['user_id']) : null
}
