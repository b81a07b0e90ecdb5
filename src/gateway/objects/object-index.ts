import type { MessagePort } from 'node:worker_threads'
import type { CacheReply } from '../../core/cached-answer.ts'
import type { BatchHeldEntry } from '../../core/journal-format.ts'
import type { BatchInput } from '../../core/objects/batch-input.ts'
import type {
  CountedPlace,
  ObjectQuestion,
  ObjectReply,
  PartAnswer,
  ReasoningQuestion,
  UploadPart,
} from '../../core/objects/object-question.ts'
import type { Asker, ObjectName, ObjectPlace, ObjectType, StoredObject } from '../../core/objects/stored-object.ts'
import { stallAwareTimeout } from '../../core/threads/stall-aware-timeout.ts'
import { FairQueue } from './fair-queue.ts'

/**
 * How long a request that names an object waits before it fails: for other look-ups of its key, then for the store thread to begin, which
 * may be busy, then for the answer.
 */
const turnMs = 1000
const beginMs = 1000
const answerMs = 500

/** The cost of any other question, counted in names. */
const otherNames = 20
/** The same for held parts of an upload: two lines of 4 MiB fit at a time. */
const bytesOfName = 4096

/** The index cannot be reached. */
export interface IndexFailure {
  failed: string
}

type Unnumbered<Question> = Question extends ObjectQuestion ? Omit<Question, 'id'> : never
type Asked = Unnumbered<Exclude<ObjectQuestion, ReasoningQuestion>>

interface PendingSearch {
  question: ObjectQuestion
  resolve(reply: ObjectReply): void
  /** Sets a new time limit. */
  extend(ms: number): void
}

/**
 * This thread's access to the object index, which the store thread keeps. Questions that are open while the store thread restarts go to its
 * successor, within the same time limits.
 */
export class ObjectIndex {
  /** Ends of the lists that this thread is serving. */
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

  /** Everybody's objects with these names, including those that are only in the journal so far. */
  async find(names: readonly ObjectName[], scope: Asker): Promise<StoredObject[] | IndexFailure> {
    return await this.#find(names, scope, true)
  }

  /** The same without waiting for the journal to be ingested. */
  async look(names: readonly ObjectName[], scope: Asker): Promise<StoredObject[] | IndexFailure> {
    return await this.#find(names, scope, false)
  }

  /** The places where the scope has objects of that type. */
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

  /** The hold of earlier work that a call continues; null: unknown here. */
  async work(workId: string, place: ObjectPlace, scope: Asker): Promise<BatchHeldEntry | null> {
    const { providerId, credentialId } = place
    const reply = await this.#ask({ kind: 'work', work: { batchId: workId, providerId, credentialId }, scope })
    if (reply.kind !== 'work' || reply.held === null) return null
    const held = JSON.parse(reply.held) as BatchHeldEntry
    const { projectId, environmentId } = held.owner
    return projectId === scope.projectId && environmentId === scope.environmentId ? held : null
  }

  /**
   * Takes or returns what is held of an upload. `make` builds the question when it is the key's turn, so that few bytes wait; `bytes`: its
   * size.
   */
  async part(scope: Asker, bytes: number, make: () => UploadPart): Promise<PartAnswer | IndexFailure> {
    const names = otherNames + Math.ceil(bytes / bytesOfName)
    const reply = await this.#inTurn(scope.keyId, names, () => ({ kind: 'part', scope, part: make() }))
    return reply.kind === 'part' ? reply : failure(reply)
  }

  /** Sealed reasoning by name; null: the store did not answer in time. `certain`: there is no more of it anywhere. */
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

/** Lists that are remembered at once. An older list is read to its end instead. */
const kept = 1000

/**
 * How many items of a list follow an item, as counted when the list began. Without it, only asking the provider for everything that follows
 * would show that a page is the last one, and a shared account may have very many items.
 */
class ListEnds {
  readonly #remaining = new Map<string, number>()

  remember(item: string, rest: number): void {
    this.#remaining.delete(item)
    this.#remaining.set(item, rest)
    const [oldest] = this.#remaining.keys()
    if (this.#remaining.size > kept && oldest !== undefined) this.#remaining.delete(oldest)
  }

  /** Null: unknown, or no longer remembered. */
  behind(item: string): number | null {
    return this.#remaining.get(item) ?? null
  }
}
