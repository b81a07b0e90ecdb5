import { errorText } from '../../../core/caught.ts'
import { newId } from '../../../core/ids.ts'
import type { LaneName } from '../../../core/lane.ts'
import { type LaneCall, lanePath, writeLaneCall } from '../../../core/lane-call.ts'
import type { SnapshotKey } from '../../../store/configuration/snapshot.ts'
import type { SentEvent } from '../../contract/requests/send.ts'
import { audited } from '../audited.ts'
import type { AdminContext, SentPiece } from '../context.ts'
import { invalid, refused } from '../fault.ts'
import { type FoundScope, findKey, findScope } from '../find.ts'
import { bareKey } from '../keys/bare-key.ts'
import { planFor } from '../routes/explain-route.ts'
import { isEventStream, RecordedAnswerReader } from './answer-reader.ts'

interface SendInput {
  model: string
  message?: string | undefined
  project: string
  environment: string
  key?: string | undefined
  lane?: LaneName | undefined
  system?: string | undefined
  maxTokens?: number | undefined
  temperature?: number | undefined
  whole: boolean
  body?: string | undefined
}

/** Audited without what was asked: prompts stand on records only where a policy captures them. */
export async function* sendRequest(
  context: AdminContext,
  input: SendInput,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const scope = await findScope(context, input)
  const key = await chooseKey(context, scope, input.key)
  const { lane } = planFor(context, scope, input, input.key === undefined ? null : key)
  const { path, body } = writeCall(lane, input)
  await note(context, key, { model: input.model, lane, key: input.key === undefined ? null : key.name })
  const agent = `spgw requests send (${context.caller.surface})`
  const pieces = context.runtime.send({ key, path, body, agent }, signal)
  yield* answerEvents(lane, { path, body }, pieces)
}

function writeCall(lane: LaneName, input: SendInput): { path: string; body: string } {
  const { model, message, system, body } = input
  if (body !== undefined) return { path: lanePath(lane, model, !input.whole), body: readBody(body) }
  if (message === undefined)
    throw invalid('There is no message to send.', 'Give a message, or a whole body with --body.')
  const turns = [
    ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
    { role: 'user' as const, text: message },
  ]
  const { maxTokens = null, temperature = null } = input
  const call: LaneCall = writeLaneCall(lane, { model, turns, streamed: !input.whole, maxTokens, temperature })
  return { path: call.path, body: JSON.stringify(call.body) }
}

function readBody(text: string): string {
  try {
    JSON.parse(text)
    return text
  } catch (error) {
    const reason = errorText(error)
    throw invalid(`The body is not JSON: ${reason}.`, 'Fix it, or leave it out and give a message.')
  }
}

export async function chooseKey(
  context: AdminContext,
  scope: FoundScope,
  name: string | undefined,
): Promise<SnapshotKey> {
  // Nobody's: it leaves no trace but its records.
  if (name === undefined) return bareKey(scope, { id: newId('key'), name: 'requests-send' })
  const key = await findKey(context, name, scope)
  const known = context.runtime.snapshot().keys.find(({ id }) => id === key.id)
  if (known !== undefined) return known
  throw refused(
    `Key ${key.name} is no longer active: no request can be sent with it.`,
    'Choose another: spgw keys list',
  )
}

async function note(context: AdminContext, key: SnapshotKey, after: Record<string, unknown>): Promise<void> {
  const resource = { kind: 'key', id: key.id, name: key.name }
  await audited(context, { operation: 'requests.send', resource, before: null, after }).audit.note()
}

/** An event stream is given event by event, anything else when it is whole. */
export async function* answerEvents(
  lane: LaneName,
  call: { path: string; body: string },
  pieces: AsyncIterable<SentPiece>,
): AsyncGenerator<SentEvent> {
  const start = performance.now()
  const since = () => Math.round(performance.now() - start)
  let firstText: number | null = null
  let error: string | null = null
  let reader = new RecordedAnswerReader(lane, false)
  const partEvent = (raw: string, text: string): SentEvent => {
    if (text !== '') firstText ??= since()
    return { kind: 'part', at_ms: since(), text, raw }
  }
  try {
    for await (const piece of pieces) {
      if (piece.kind === 'head') {
        reader = new RecordedAnswerReader(lane, isEventStream(piece.headers['content-type']))
        yield beginOf(lane, call, piece)
      } else for (const { raw, text } of reader.push(piece.bytes)) yield partEvent(raw, text)
    }
    for (const { raw, text } of reader.rest()) yield partEvent(raw, text)
  } catch (fault) {
    error = errorText(fault)
  }
  yield { kind: 'end', duration_ms: since(), first_text_ms: firstText, error, text: null }
}

function beginOf(
  lane: LaneName,
  { path, body }: { path: string; body: string },
  { status, headers }: Extract<SentPiece, { kind: 'head' }>,
): SentEvent {
  const id = headers['x-sp-request-id'] ?? ''
  return { kind: 'begin', request_id: id, lane, status, path, request_body: body, headers, text: null }
}
