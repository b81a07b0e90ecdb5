import type { MessagePort } from 'node:worker_threads'
import type { CacheReply } from '../../core/cached-answer.ts'
import type { BatchHeldEntry } from '../../core/journal-format.ts'
import { stallAwareTimeout } from '../../core/stall-aware-timeout.ts'
import type {
  Asker,
  BatchInput,
  CountedPlace,
  ObjectName,
  ObjectPlace,
  ObjectQuestion,
  ObjectReply,
  ObjectType,
  PartAnswer,
  ReasoningQuestion,
  StoredObject,
  UploadPart,
} from '../../core/stored-object.ts'
import { FairQueue } from './fair-queue.ts'
import { ListEnds } from './list-ends.ts'

/**
 * A request that names an object waits so long, and no longer: it then fails closed. First for the other look-ups of its key, then until
 * the store's thread has it, which may be busy with others' work; and then for the answer.
 */
const turnMs = 1000
const beginMs = 1000
const answerMs = 500

/** What any other question costs the store, in names. */
const otherNames = 20
/** Of what is held of an upload: of lines of 4 MiB, two go at a time. */
const bytesOfName = 4096

/** The index cannot be asked now. */
export interface IndexFailure {
  failed: string
}

type Unnumbered<Question> = Question extends ObjectQuestion ? Omit<Question, 'id'> : never
type Asked = Unnumbered<Exclude<ObjectQuestion, ReasoningQuestion>>

interface PendingSearch {
  question: ObjectQuestion
  resolve(reply: ObjectReply): void
  /** So many milliseconds more. */
  extend(ms: number): void
}

/**
 * This thread's way to the index of objects, which the store's thread keeps. What is asked while that one is started
 * again waits for its successor, within the same time.
 */
export class ObjectIndex {
  /** Of lists that this thread has begun to give out. */
  readonly ends = new ListEnds()
  #port: MessagePort | null = null
  readonly #turns = new FairQueue(turnMs)
  readonly #pending = new Map<number, PendingSearch>()
  #lastId = 0

  attach(port: MessagePort): void {
    this.#port?.close()
    this.#port = port
    port.on('message', (reply: ObjectReply | CacheReply) => {
      if (reply.kind !== 'cached') this.#hear(reply)
    })
    port.on('close', () => {
      if (this.#port === port) this.#port = null
    })
    for (const { question } of this.#pending.values()) port.postMessage(question)
  }

  /** Everybody's rows with these names. What was journaled before is among them. */
  async find(names: readonly ObjectName[], scope: Asker): Promise<StoredObject[] | IndexFailure> {
    return await this.#find(names, scope, true)
  }

  /** The same without waiting for what the journal may hold besides. */
  async look(names: readonly ObjectName[], scope: Asker): Promise<StoredObject[] | IndexFailure> {
    return await this.#find(names, scope, false)
  }

  /** Where the scope has objects of that type. */
  async places(type: ObjectType, scope: Asker): Promise<CountedPlace[] | IndexFailure> {
    const reply = await this.#ask({ kind: 'places', type, scope })
    return reply.kind === 'places' ? reply.places : failure(reply)
  }

  /** What the lines of a file name, and whether it was adopted. */
  async input(
    fileId: string,
    place: ObjectPlace,
    scope: Asker,
  ): Promise<{ input: BatchInput | null; adopted: boolean } | IndexFailure> {
    const { providerId, credentialId } = place
    const reply = await this.#ask({ kind: 'input', fileId, place: { providerId, credentialId }, scope })
    return reply.kind === 'input' ? reply : failure(reply)
  }

  /** What work of the asker's scope holds that a call goes on with; null: nobody knows here. */
  async work(workId: string, place: ObjectPlace, scope: Asker): Promise<BatchHeldEntry | null> {
    const { providerId, credentialId } = place
    const reply = await this.#ask({ kind: 'work', work: { batchId: workId, providerId, credentialId }, scope })
    if (reply.kind !== 'work' || reply.held === null) return null
    const held = JSON.parse(reply.held) as BatchHeldEntry
    const { projectId, environmentId } = held.owner
    return projectId === scope.projectId && environmentId === scope.environmentId ? held : null
  }

  /** Takes what is held of an upload, or gives it back. `make`: when it is the key's turn, so that little waits; of so many bytes. */
  async part(scope: Asker, bytes: number, make: () => UploadPart): Promise<PartAnswer | IndexFailure> {
    const names = otherNames + Math.ceil(bytes / bytesOfName)
    const reply = await this.#inTurn(scope.keyId, names, () => ({ kind: 'part', scope, part: make() }))
    return reply.kind === 'part' ? reply : failure(reply)
  }

  /** Sealed reasoning by name; null: the store did not answer within so many milliseconds. `certain`: nobody has more. */
  async reasoning(
    names: readonly string[],
    isNeeded: boolean,
    withinMs: number,
  ): Promise<Omit<Extract<ObjectReply, { kind: 'reasoning' }>, 'id' | 'kind'> | null> {
    const id = ++this.#lastId
    const question: ReasoningQuestion = { id, kind: 'reasoning', names, isNeeded }
    const { promise, resolve } = Promise.withResolvers<ObjectReply>()
    const timeout = stallAwareTimeout(withinMs, () => resolve({ id, kind: 'failed', reason: 'too late' }))
    this.#pending.set(id, { question, resolve, extend: () => {} })
    this.#port?.postMessage(question)
    const reply = await promise
    timeout.cancel()
    this.#pending.delete(id)
    return reply.kind === 'reasoning' ? reply : null
  }

  async #find(names: readonly ObjectName[], scope: Asker, fresh: boolean): Promise<StoredObject[] | IndexFailure> {
    const ids = new Map<ObjectType, Set<string>>()
    for (const { type, id } of names) {
      const same = ids.get(type)
      if (same === undefined) ids.set(type, new Set([id]))
      else same.add(id)
    }
    const byType = [...ids].map(([type, set]) => [type, [...set]] as const)
    const count = byType.reduce((sum, [, each]) => sum + each.length, 0)
    const text = JSON.stringify(Object.fromEntries(byType))
    const reply = await this.#ask({ kind: 'find', names: text, count, scope, fresh })
    return reply.kind === 'found' ? reply.objects : failure(reply)
  }

  async #ask(asked: Asked): Promise<ObjectReply> {
    const names = asked.kind === 'find' ? Math.max(1, asked.count) : otherNames
    return await this.#inTurn(asked.scope.keyId, names, () => asked)
  }

  async #inTurn(keyId: string, names: number, make: () => Asked): Promise<ObjectReply> {
    const id = ++this.#lastId
    const turn = this.#turns.take(keyId, names)
    const reason = turn === null ? null : await turn
    if (reason !== null) return { id, kind: 'failed', reason }
    try {
      return await this.#send({ ...make(), id })
    } finally {
      this.#turns.leave(keyId, names)
    }
  }

  async #send(question: ObjectQuestion): Promise<ObjectReply> {
    const { id } = question
    const { promise, resolve } = Promise.withResolvers<ObjectReply>()
    let limit = beginMs
    const onTimeout = () => resolve({ id, kind: 'failed', reason: `it did not answer within ${limit} ms` })
    let timeout = stallAwareTimeout(limit, onTimeout)
    const extend = (ms: number) => {
      timeout.cancel()
      limit = ms
      timeout = stallAwareTimeout(limit, onTimeout)
    }
    this.#pending.set(id, { question, resolve, extend })
    this.#port?.postMessage(question)
    try {
      return await promise
    } finally {
      timeout.cancel()
      this.#pending.delete(id)
    }
  }

  #hear(reply: ObjectReply): void {
    const pending = this.#pending.get(reply.id)
    if (reply.kind === 'begun') pending?.extend(reply.withinMs ?? answerMs)
    else pending?.resolve(reply)
  }
}

function failure(reply: ObjectReply): IndexFailure {
  return { failed: reply.kind === 'failed' ? reply.reason : 'it answered something else' }
}
