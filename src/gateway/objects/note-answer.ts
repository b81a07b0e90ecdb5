import { reachFaultPoint } from '../../core/fault-point.ts'
import type { ObjectsEntry } from '../../core/journal-format.ts'
import type { Signal } from '../../core/record.ts'
import type { BatchInput, CreatedObject, ObjectOwner } from '../../core/stored-object.ts'
import type { EndedWork, Inspection, Match } from '../../lanes/contract.ts'
import type { Exchange } from '../exchange.ts'
import type { Gateway } from '../gateway.ts'
import type { Answer } from '../judge.ts'
import { type BatchResults, listedResults } from './batch-results.ts'
import { laneUrls } from './lane-urls.ts'

/**
 * What a whole 2xx answer says of objects is put on the exchange, for the journal; returns the body with the URLs in it
 * that a client would follow leading here.
 */
export function noteAnswer(gateway: Gateway, exchange: Exchange, answer: Answer, body: Buffer): Buffer {
  const match = exchange.match!
  const { effect } = match.endpoint.object!
  if (effect === 'delete') {
    noteForgotten(exchange, answer)
    return body
  }
  if (!mayTell(match, exchange.inspection!)) return body
  const { endpoint } = match
  const parsed = parse(body)
  const input = exchange.input?.taken() ?? null
  noteMade(exchange, answer, [
    ...withInput(endpoint.createdObjects(match, exchange.inspection!, parsed), input),
    ...answer.call.reader.seen().objects,
  ])
  if (endpoint.reportsUsage === 'end') noteEnded(exchange, answer, endpoint.endedWork(parsed))
  return rewriteUrls(gateway, exchange, answer, body)
}

/** The body, or an event's data, with the URLs in it that a client would follow leading here. */
export function rewriteUrls(gateway: Gateway, exchange: Exchange, { provider }: Answer, body: Buffer): Buffer {
  const rewritten = exchange.lane!.objects.rewriteAnswerUrls(body, laneUrls(gateway, exchange, provider))
  if (rewritten !== body && !exchange.routingSignals.includes(urlsRewritten))
    exchange.routingSignals.push(urlsRewritten)
  return rewritten
}

const urlsRewritten: Signal = Object.freeze({
  rule: 'splice',
  verdict: 'note',
  text: 'URLs of the provider in the answer were replaced by ones that lead back here.',
})

/** Whether an answer that cannot be read must not pass: a client would carry its key to the URLs in it. */
export function needsReading(exchange: Exchange): boolean {
  const { match, inspection } = exchange
  return match!.endpoint.responseForm === 'json' && mayTell(match!, inspection!) && match!.endpoint.answersHoldUrls
}

/** An answer whose bytes pass unread: too large, too full, compressed, or of a shape that says nothing. */
export function noteUnread(exchange: Exchange, answer: Answer): void {
  const { endpoint } = exchange.match!
  if (endpoint.object!.effect === 'delete') noteForgotten(exchange, answer)
  else if (endpoint.responseForm === 'json' && mayTell(exchange.match!, exchange.inspection!)) {
    const text =
      'The answer could not be read (too large, too many values, or compressed): what it made at the provider belongs to nobody until it is adopted.'
    exchange.routingSignals.push({ rule: 'answer_not_read', verdict: 'note', text })
  }
}

function noteForgotten(exchange: Exchange, answer: Answer): void {
  const { object, endpoint } = exchange.match!
  if (endpoint.object?.effect !== 'delete' || object === null) return
  exchange.objects = objectsEntry(exchange, answer, {
    made: [],
    forgotten: [{ type: endpoint.object.type, id: object }],
  })
}

/** Answers of models are kept only where the client asks for it: all others cost nothing here. */
export function mayTell({ endpoint }: Match, { stores }: Inspection): boolean {
  const { object } = endpoint
  if (object === null || object.effect === 'delete') return false
  return stores || !(object.type === 'chat_completion' || object.type === 'thread') || object.effect !== 'create'
}

/**
 * What a stream has shown so far and the journal does not know yet. Journaled at once: a client may name an answer, to
 * cancel it or to follow it, while it still streams.
 */
export class StreamedObjects {
  readonly #gateway: Gateway
  readonly #exchange: Exchange
  readonly #answer: Answer
  #told = false

  constructor(gateway: Gateway, exchange: Exchange, answer: Answer) {
    this.#gateway = gateway
    this.#exchange = exchange
    this.#answer = answer
  }

  /** Before the event that was read last goes out. */
  look(): void {
    if (this.#told) return
    const { responseId } = this.#answer.call.reader.seen()
    if (responseId === null) return
    this.#told = true
    const { match, inspection } = this.#exchange
    this.#journal(match!.endpoint.createdObjects(match!, inspection!, { id: responseId }))
  }

  /** Before the end is journaled. */
  end(): void {
    this.look()
    const seen = this.#answer.call.reader.seen()
    if (seen.objects.length > 0) this.#journal(seen.objects)
    this.#exchange.results?.takeShown(seen)
    if (seen.counted !== undefined) resultsHere(this.#exchange, this.#answer).takeCounted(seen.counted)
  }

  #journal(made: readonly CreatedObject[]): void {
    const unknown = withoutNamed(this.#exchange, made)
    if (unknown.length === 0) return
    void this.#gateway.journal.append(objectsEntry(this.#exchange, this.#answer, { made: unknown, forgotten: [] }))
    reachFaultPoint('journal.after-objects')
  }
}

/** For the answer's stream; null where nothing that it shows is kept. */
export function streamedObjects(gateway: Gateway, exchange: Exchange, answer: Answer): StreamedObjects | null {
  return mayTell(exchange.match!, exchange.inspection!) ? new StreamedObjects(gateway, exchange, answer) : null
}

function noteEnded(exchange: Exchange, answer: Answer, ended: readonly EndedWork[]): void {
  resultsHere(exchange, answer).take(ended)
}

function resultsHere(exchange: Exchange, answer: Answer): BatchResults {
  exchange.results ??= listedResults(exchange, ownerAt(exchange, answer))
  return exchange.results
}

/** The file is what the upload made. */
function withInput(told: readonly CreatedObject[], input: BatchInput | null): readonly CreatedObject[] {
  return input === null ? told : told.map((name) => (name.type === 'file' ? { ...name, input } : name))
}

/** No real answer tells of more; each is a row in the journal and in the store. */
const mostMade = 10_000

function noteMade(exchange: Exchange, answer: Answer, told: readonly CreatedObject[]): void {
  const made = withoutNamed(exchange, told).slice(0, mostMade)
  if (made.length > 0) exchange.objects = objectsEntry(exchange, answer, { made, forgotten: [] })
}

/** What the call named is known already: who asks for the same again and again adds nothing. */
function withoutNamed({ named }: Exchange, told: readonly CreatedObject[]): CreatedObject[] {
  return told.filter((name) => !named.some(({ type, id }) => type === name.type && id === name.id))
}

export function objectsEntry(
  exchange: Exchange,
  { provider, credentialIndex }: Pick<Answer, 'provider' | 'credentialIndex'>,
  change: Pick<ObjectsEntry, 'made' | 'forgotten'>,
): ObjectsEntry {
  const owner = ownerAt(exchange, { provider, credentialIndex })
  return { kind: 'objects', requestId: exchange.id, time: exchange.time, owner, ...change }
}

/** Of what the caller makes there. */
function ownerAt(
  { key }: Exchange,
  { provider, credentialIndex }: Pick<Answer, 'provider' | 'credentialIndex'>,
): ObjectOwner {
  const { id: keyId, projectId, environmentId } = key!
  const credentialId = provider.row.credentials[credentialIndex]?.id ?? null
  return { projectId, environmentId, keyId, providerId: provider.row.id, credentialId }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}
