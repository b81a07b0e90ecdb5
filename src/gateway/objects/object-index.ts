import type { MessagePort } from 'node:worker_threads'
import type {
  CountedPlace,
  FindQuestion,
  ObjectName,
  ObjectQuestion,
  ObjectReply,
  ObjectScope,
  ObjectType,
  PlacesQuestion,
  StoredObject,
} from '../../core/stored-object.ts'
import { ListEnds } from './list-ends.ts'

/** A request that names an object waits for the index so long, and no longer: it then fails closed. */
const answerMs = 50

/** The index cannot be asked now. */
export interface IndexFailure {
  failed: string
}

type Asked = Omit<FindQuestion, 'id'> | Omit<PlacesQuestion, 'id'>

interface Pending {
  question: ObjectQuestion
  resolve(reply: ObjectReply): void
}

/**
 * This thread's way to the index of objects, which the store's thread keeps. What is asked while that one is started
 * again waits for its successor, within the same time.
 */
export class ObjectIndex {
  /** Of lists that this thread has begun to give out. */
  readonly ends = new ListEnds()
  #port: MessagePort | null = null
  readonly #pending = new Map<number, Pending>()
  #lastId = 0

  attach(port: MessagePort): void {
    this.#port?.close()
    this.#port = port
    port.on('message', (reply: ObjectReply) => this.#hear(reply))
    port.on('close', () => {
      if (this.#port === port) this.#port = null
    })
    for (const { question } of this.#pending.values()) port.postMessage(question)
  }

  /** Everybody's rows with these names. What was journaled before is among them. */
  async find(names: ObjectName[], scope: ObjectScope): Promise<StoredObject[] | IndexFailure> {
    return await this.#find(names, scope, true)
  }

  /** The same without waiting for what the journal may hold besides. */
  async look(names: ObjectName[], scope: ObjectScope): Promise<StoredObject[] | IndexFailure> {
    return await this.#find(names, scope, false)
  }

  /** Where the scope has objects of that type. */
  async places(type: ObjectType, scope: ObjectScope): Promise<CountedPlace[] | IndexFailure> {
    const reply = await this.#ask({ kind: 'places', type, scope })
    return reply.kind === 'places' ? reply.places : failure(reply)
  }

  async #find(names: ObjectName[], scope: ObjectScope, fresh: boolean): Promise<StoredObject[] | IndexFailure> {
    const reply = await this.#ask({ kind: 'find', names, scope, fresh })
    return reply.kind === 'found' ? reply.objects : failure(reply)
  }

  #ask(asked: Asked): Promise<ObjectReply> {
    const id = ++this.#lastId
    const question: ObjectQuestion = { ...asked, id }
    const { promise, resolve } = Promise.withResolvers<ObjectReply>()
    const late = () => resolve({ id, kind: 'failed', reason: `it did not answer within ${answerMs} ms` })
    // An answer that is here already counts, also where this thread itself was late to look.
    const timer = setTimeout(() => setImmediate(late), answerMs)
    this.#pending.set(id, { question, resolve })
    this.#port?.postMessage(question)
    return promise.finally(() => {
      clearTimeout(timer)
      this.#pending.delete(id)
    })
  }

  #hear(reply: ObjectReply): void {
    this.#pending.get(reply.id)?.resolve(reply)
  }
}

function failure(reply: ObjectReply): IndexFailure {
  return { failed: reply.kind === 'failed' ? reply.reason : 'it answered something else' }
}
