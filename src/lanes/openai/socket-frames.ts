import { bytesPerToken } from '../../core/cost/estimated-tokens.ts'
import { type Fault, fault } from '../../core/errors.ts'
import { type Member, type Span, scanObject } from '../../core/json/json-scan.ts'
import { asText, readValue } from '../../core/json/json-value.ts'
import type { ObjectType } from '../../core/objects/stored-object.ts'
import { additionalNames, readAdditionalModels } from '../additional-models.ts'
import type { FrameAsk, Match, NamedModel } from '../contract.ts'
import { readType, scanFrame } from '../frames.ts'
import { isFault, isLongName, longModel, readModel, rejectMisspelled } from '../request-body.ts'
import { responseNames } from './objects/references.ts'

/** The type of a provider's frame, '' where it has none, and the bytes of its `delta`. Audio is skipped, never parsed. */
export function scanEvent(frame: Buffer): { type: string; delta: number | null } {
  const scan = scanObject(frame, ['type', 'delta'])
  const members = scan.ok ? scan.members : []
  const type = members.findLast(({ name }) => name === 'type')
  const delta = members.findLast(({ name }) => name === 'delta')
  return {
    type: type === undefined ? '' : (asText(readValue(frame, type)) ?? ''),
    delta: delta === undefined ? null : delta.end - delta.start,
  }
}

/** Base64 of 24,000 two-byte samples a second, which count as 20 tokens. */
const audioBytesPerToken = 3200

export const isSound = (type: string) => type.endsWith('audio.delta')

/** An estimate for a part of an answer without reported usage: most providers send at least one token with each part. */
export function deltaTokens(type: string, bytes: number): number {
  if (!type.endsWith('.delta') || bytes <= '""'.length) return 0
  return Math.ceil(bytes / (isSound(type) ? audioBytesPerToken : bytesPerToken))
}

/** A `response.create` frame is the body of that call, with a type. A model counts in a frame of any type. */
export function askResponse(frame: Buffer, call: Match): FrameAsk | Fault | null {
  const read = readFrame(frame, ['type', 'model', ...additionalNames], call)
  if (isFault(read)) return read
  const named = readModel(frame, read.members, true)
  if (isFault(named)) return named
  const opens = read.type === 'response.create'
  if (!opens && named.model === null && read.bodyOf === null) return null
  const model = named.model === null ? null : { name: named.model, spans: named.spans }
  const additional = readAdditionalModels(frame, read.members, model)
  if (isFault(additional)) return additional
  const { models: additionalModels, leavesChoice } = additional
  const { bodyOf } = read
  return { opens, asksResponse: opens, model, additionalModels, ...(leavesChoice && { leavesChoice }), bodyOf, own: [] }
}

const sessionFrames = new Set(['session.update', 'session.start', 'transcription_session.update'])

/**
 * A frame that sets up a session names its model, and perhaps more models for parts of the work. Any frame may name an
 * object.
 */
export function askSession(frame: Buffer, call: Match, own: readonly ObjectType[]): FrameAsk | Fault | null {
  const read = readFrame(frame, ['type', 'session', 'model'], call)
  if (isFault(read)) return read
  const { bodyOf } = read
  const opens = sessionFrames.has(read.type)
  const asksResponse = read.type === 'response.create'
  if (!opens && read.members.every(({ name }) => name === 'type'))
    return bodyOf === null && !asksResponse
      ? null
      : { opens, asksResponse, model: null, additionalModels: [], bodyOf, own }
  const models = readSession(frame)
  return isFault(models) ? models : { opens, asksResponse, ...models, bodyOf, own }
}

interface SocketFrame {
  type: string
  members: readonly Member[]
  /** Null: the frame has no member that refers to an object. */
  bodyOf: Match | null
}

function readFrame(frame: Buffer, wanted: readonly string[], call: Match): SocketFrame | Fault {
  const watch = { names: responseNames, seen: false }
  const members = scanFrame(frame, wanted, watch)
  if ('code' in members) return members
  const type = readType(frame, members)
  if (typeof type !== 'string') return type
  return { type, members, bodyOf: watch.seen ? call : null }
}

/** Members of a session that may contain another model. */
const holders = ['audio', 'input', 'transcription', 'input_audio_transcription', 'delegation', 'responses']

/** No provider reads a model deeper than four levels in a session. Each level costs another scan. */
const deepest = 8

export function readSession(bytes: Buffer): Pick<FrameAsk, 'model' | 'additionalModels'> | Fault {
  const scan = scanObject(bytes, ['session'])
  const odd = scan.ok ? rejectMisspelled(bytes, scan) : null
  if (odd !== null) return odd
  // An older form has the model beside the session. The provider decides which one counts, so they must be equal.
  return readModels(bytes, [{ start: 0, end: bytes.length }, ...(scan.ok ? scan.members : [])])
}

/** The models of sessions that mean the same one. */
export function readModels(
  bytes: Buffer,
  sessions: readonly Span[],
): Pick<FrameAsk, 'model' | 'additionalModels'> | Fault {
  const models: { depth: number; name: string; span: Span }[] = []
  for (const session of sessions) {
    const wrong = collectModels(bytes, session, 0, models)
    if (wrong !== null) return wrong
  }
  const own = models.filter(({ depth }) => depth === 0)
  if (new Set(own.map(({ name }) => name)).size > 1)
    return fault('invalid_request', '`session.model` is given twice with different values; send it once.', {
      param: 'session.model',
    })
  const model = own[0] === undefined ? null : { name: own[0].name, spans: own.map(({ span }) => span) }
  const additionalModels = models
    .filter(({ depth }) => depth > 0)
    .map(({ name, span }): NamedModel => ({ name, spans: [span] }))
  return { model, additionalModels }
}

function collectModels(
  frame: Buffer,
  range: Span,
  depth: number,
  found: { depth: number; name: string; span: Span }[],
): Fault | null {
  const scan = scanObject(frame, ['model', ...holders], range)
  if (!scan.ok) return null
  let wrong = rejectMisspelled(frame, scan)
  for (const { name, start, end } of scan.members) {
    if (name !== 'model') {
      if (depth < deepest) wrong ??= collectModels(frame, { start, end }, depth + 1, found)
      continue
    }
    if (isLongName({ start, end })) {
      wrong ??= longModel
      continue
    }
    const value = asText(readValue(frame, { start, end }))
    if (value !== null) found.push({ depth, name: value, span: { start, end } })
  }
  return wrong
}
