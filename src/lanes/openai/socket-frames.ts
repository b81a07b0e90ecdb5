import { type Fault, fault } from '../../core/errors.ts'
import { type Span, scanObject } from '../../core/json-scan.ts'
import type { FrameAsk, Match, NamedModel } from '../contract.ts'
import { asText, readValue } from '../json-value.ts'
import { isFault, readModel, scanBody } from '../request-body.ts'

/** The type of a frame: '' for what has none. Sound is skipped, never parsed. */
export function frameType(frame: Buffer): string {
  const scan = scanObject(frame, ['type'])
  const member = scan.ok ? scan.members.at(-1) : undefined
  return member === undefined ? '' : (asText(readValue(frame, member)) ?? '')
}

/** A `response.create` of the Responses WebSocket is the body of that call, with a type. */
export function askResponse(frame: Buffer, bodyOf: Match | null): FrameAsk | Fault | null {
  if (frameType(frame) !== 'response.create') return null
  const scan = scanBody(frame, ['model'])
  if (isFault(scan)) return scan
  const named = readModel(frame, scan.members, true)
  if (isFault(named)) return named
  const model = named.model === null ? null : { name: named.model, spans: named.spans }
  return { model, further: [], bodyOf }
}

const sessionFrames = new Set(['session.update', 'session.start', 'transcription_session.update'])
/** Members of a session below which another model may be named. */
const holders = ['audio', 'input', 'transcription', 'input_audio_transcription', 'delegation', 'responses']

/** What sets up a session names its model, and perhaps others for parts of the work. */
export function askSession(frame: Buffer, bodyOf: Match | null): FrameAsk | Fault | null {
  if (!sessionFrames.has(frameType(frame))) return null
  return readSession(frame, bodyOf)
}

export function readSession(bytes: Buffer, bodyOf: Match | null): FrameAsk | Fault {
  const scan = scanObject(bytes, ['session'])
  const sessions = scan.ok && scan.members.length > 0 ? scan.members : [{ start: 0, end: bytes.length }]
  const models: { depth: number; name: string; span: Span }[] = []
  for (const session of sessions) collectModels(bytes, session, 0, models)
  const own = models.filter(({ depth }) => depth === 0)
  if (new Set(own.map(({ name }) => name)).size > 1)
    return fault('invalid_request', '`session.model` is given twice with different values; send it once.', {
      param: 'session.model',
    })
  const model = own[0] === undefined ? null : { name: own[0].name, spans: own.map(({ span }) => span) }
  const further = models.filter(({ depth }) => depth > 0).map(({ name, span }): NamedModel => ({ name, spans: [span] }))
  return { model, further, bodyOf }
}

function collectModels(
  frame: Buffer,
  range: Span,
  depth: number,
  found: { depth: number; name: string; span: Span }[],
): void {
  const scan = scanObject(frame, ['model', ...holders], range)
  if (!scan.ok) return
  for (const { name, start, end } of scan.members) {
    if (name !== 'model') {
      collectModels(frame, { start, end }, depth + 1, found)
      continue
    }
    const value = asText(readValue(frame, { start, end }))
    if (value !== null) found.push({ depth, name: value, span: { start, end } })
  }
}
