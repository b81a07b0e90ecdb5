import { reachFaultPoint } from '../../core/fault-point.ts'
import type { ObjectsEntry } from '../../core/journal-format.ts'
import { parseJson } from '../../core/json/json-value.ts'
import type { BatchInput, CreatedObject } from '../../core/objects/batch-input.ts'
import type { ObjectOwner } from '../../core/objects/stored-object.ts'
import type { Endpoint } from '../../lanes/contract.ts'
import type { StartedWork } from '../../lanes/earlier-work.ts'
import type { Call } from '../request/call.ts'
import type { Answer } from '../upstream/evaluate.ts'
import { isLaterStep } from '../upstream/expect-target.ts'
import { findHeader } from '../upstream/headers.ts'
import { credentialIdOf, type Leg } from '../upstream/leg.ts'
import { type BatchResults, listedResults } from './batch-results.ts'
import { ObjectNotes } from './object-notes.ts'

/** The call that made an object, and the provider and credential that it used. */
export type MadeBy = Pick<Leg, 'call' | 'provider' | 'credentialIndex'>

/** Records for the journal which objects a whole 2xx answer created. Returns a promise only for uploads in parts. */
export function recordObjects({ leg }: Answer, body: Buffer): Promise<void> | void {
  const { call } = leg
  if (call.match.endpoint.object?.effect === 'delete') return recordForgotten(leg)
  // The client gets other ids from a translated answer, and no provider knows those.
  if (!call.createsObjects || leg.translation !== null) return
  const input = call.arrival.objects?.input?.taken() ?? null
  if (input instanceof Promise) return input.then((known) => recordMade(leg, body, known))
  recordMade(leg, body, input)
}

function recordMade(leg: Leg, body: Buffer, input: BatchInput | null): void {
  const { call } = leg
  const { match } = call
  const { endpoint } = match
  const parsed = parseJson(body)
  const created = withInput(endpoint.createdObjects(match, call.inspection, parsed), input)
  recordCreated(leg, [...created, ...leg.reader.seen().objects])
  recordStarted(leg, endpoint.startedWork?.(parsed) ?? batchIn(endpoint, created))
  if (endpoint.reportsUsage === 'end') resultsHere(leg).take(endpoint.endedWork(parsed), body.length)
}

function recordStarted(leg: Leg, work: StartedWork | null): void {
  if (work === null) return
  // A step of a run keeps its hold only if this node knows the run. Otherwise nothing might ever release it.
  if (isLaterStep(leg.call) && leg.call.arrival.objects?.earlier?.held == null) return
  notesOf(leg.call).started = { work, owner: ownerAt(leg) }
}

function batchIn({ batchAsks }: Endpoint, created: readonly CreatedObject[]): StartedWork | null {
  const made = batchAsks === undefined ? undefined : created.find(({ type }) => type === 'batch')
  return made === undefined ? null : { type: 'batch', id: made.id }
}

/** For an answer that passes unread: too large, too many values, compressed, or of a form without ids. */
export function recordUnread({ leg }: Answer): void {
  const { call } = leg
  const { object, responseForm } = call.match.endpoint
  if (object?.effect === 'delete') recordForgotten(leg)
  else if (responseForm === 'json' && call.createsObjects) call.trace.note('answer_not_read', objectUnread)
}

const objectUnread =
  'The answer could not be read (too large, too many values, or compressed): the objects that it created at the provider have no owner until they are adopted.'

function recordForgotten(leg: Leg): void {
  const { object, endpoint } = leg.match
  if (endpoint.object === null || object === null) return
  const notes = notesOf(leg.call)
  const name = { type: endpoint.object.type, id: object }
  const forgotten = [notes.madeAt === null ? name : { ...name, createdAt: notes.madeAt }]
  notes.entry = objectsEntry(leg, { made: [], forgotten })
}

/**
 * Objects of a stream. They are journaled as soon as they appear: a client may name an answer, to cancel or follow it, while it still
 * streams.
 */
export class StreamedObjects {
  readonly #leg: Leg
  #recorded = false

  constructor(leg: Leg) {
    this.#leg = leg
  }

  /** Called before the last event that was read is sent. */
  beforeEvent(): void {
    if (this.#recorded) return
    const { call, reader } = this.#leg
    const { responseId } = reader.seen()
    if (responseId === null) return
    this.#recorded = true
    this.#journal(call.match.endpoint.createdObjects(call.match, call.inspection, { id: responseId }))
  }

  /** Called before the end of the stream is journaled. */
  end(): void {
    this.beforeEvent()
    const { call, reader } = this.#leg
    const seen = reader.seen()
    if (seen.objects.length > 0) this.#journal(seen.objects)
    call.arrival.objects?.results?.takeShown(seen)
    if (seen.counted !== undefined) resultsHere(this.#leg).takeCounted(seen.counted)
    const { startedWork } = call.match.endpoint
    if (seen.unfinished !== undefined && startedWork !== undefined)
      recordStarted(this.#leg, { type: 'thread_run', id: seen.unfinished })
  }

  #journal(made: readonly CreatedObject[]): void {
    const unknown = withoutNamed(this.#leg.call, made)
    if (unknown.length === 0) return
    void this.#leg.call.gateway.journal.append(objectsEntry(this.#leg, { made: unknown, forgotten: [] }))
    reachFaultPoint('journal.after-objects')
  }
}

function notesOf({ arrival }: Call): ObjectNotes {
  arrival.objects ??= new ObjectNotes()
  return arrival.objects
}

function resultsHere(leg: Leg): BatchResults {
  const notes = notesOf(leg.call)
  notes.results ??= listedResults(leg.call, ownerAt(leg))
  return notes.results
}

/** Attaches what was read of an uploaded file to the file that the upload created. */
function withInput(created: readonly CreatedObject[], input: BatchInput | null): readonly CreatedObject[] {
  return input === null ? created : created.map((name) => (name.type === 'file' ? { ...name, input } : name))
}

/** No real answer names more; each takes a row in the journal and in the store. */
const mostCreated = 10_000

function recordCreated(leg: Leg, created: readonly CreatedObject[]): void {
  const made = withoutNamed(leg.call, created).slice(0, mostCreated)
  if (made.length > 0) notesOf(leg.call).entry = objectsEntry(leg, { made, forgotten: [] })
}

/** Leaves out objects that the call itself named: they are known already. */
function withoutNamed({ arrival }: Call, created: readonly CreatedObject[]): CreatedObject[] {
  const named = arrival.objects?.named ?? []
  return created.filter((name) => !named.some(({ type, id }) => type === name.type && id === name.id))
}

export function objectsEntry(madeBy: MadeBy, change: Pick<ObjectsEntry, 'made' | 'forgotten'>): ObjectsEntry {
  const { id, time } = madeBy.call.trace
  return { kind: 'objects', requestId: id, time, owner: ownerAt(madeBy), ...change }
}

/** The owner of what the caller creates there. */
function ownerAt(madeBy: MadeBy): ObjectOwner {
  const { id: keyId, projectId, environmentId } = madeBy.call.key
  const { provider } = madeBy
  return { projectId, environmentId, keyId, providerId: provider.row.id, credentialId: credentialIdOf(madeBy) }
}

const located = /\/realtime\/calls\/([\w-]{1,128})$/

/** A WebRTC call's id is only in a header; it is journaled from there. Source: wire/lanes.md, section 1.5. */
export function recordStartedCall(answer: Answer): void {
  const id = startedCall(answer)
  if (id !== null) recordCreated(answer.leg, [{ type: 'call', id }])
}

/** The `location` header from which clients read the call's id, as a path of this gateway. */
export function callLocation(answer: Answer): readonly string[] {
  const id = startedCall(answer)
  return id === null ? [] : ['location', `${answer.leg.call.lane.prefix}/realtime/calls/${id}`]
}

function startedCall({ gated, error }: Answer): string | null {
  return error === null ? (located.exec(findHeader(gated.head.headers, 'location') ?? '')?.[1] ?? null) : null
}
