import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { type CacheQuestion, isCacheQuestion } from '../../core/cached-answer.ts'
import type { FindQuestion, HoldInput, ObjectQuestion, ObjectReply, StoredObject } from '../../core/stored-object.ts'
import type { Connection } from '../sqlite/connection.ts'
import { HeldInputs } from './held-inputs.ts'

/** Answers the look-ups of data-plane threads, each over a port of its own. */
export class ObjectLookup {
  readonly #connection: Connection
  readonly #ingest: () => Promise<unknown>
  readonly #uploads = new HeldInputs()

  /** `ingest` brings in all that is journaled by the time it is called; those who ask at once share it. */
  constructor(connection: Connection, ingest: () => Promise<unknown>) {
    this.#connection = connection
    this.#ingest = ingest
  }

  serve(port: MessagePort): void {
    port.on('message', (question: ObjectQuestion | HoldInput | CacheQuestion) => {
      if (isCacheQuestion(question)) return
      if (question.kind === 'hold-input') return this.#uploads.hold(question.session, question.held)
      let answered = false
      void this.#answer(question).then((reply) => {
        answered = true
        port.postMessage(reply)
      })
      // Whoever asks waits longer for a thread that is busy than for one that is sick. Nearly all are answered by then.
      setImmediate(() => {
        if (!answered) port.postMessage({ id: question.id, kind: 'begun' } satisfies ObjectReply)
      })
    })
    // It keeps no thread alive that has nothing else to do.
    port.unref()
  }

  async #answer(question: ObjectQuestion): Promise<ObjectReply> {
    const { id } = question
    try {
      if (question.kind === 'find') return { id, kind: 'found', objects: await this.#find(question) }
      if (question.kind === 'reasoning') return { id, kind: 'reasoning', found: await this.#reasoning(question.names) }
      if (question.kind === 'take-input') {
        // What came before may have been given back over another thread's port, which this turn of the loop may have looked at already:
        // it does so again in the next.
        await nextTurn()
        await nextTurn()
        return { id, kind: 'held', held: this.#uploads.take(question.session, question.offset) }
      }
      if (question.kind === 'input') {
        const { fileId, place } = question
        return { id, kind: 'input', ...(await this.#connection.readHot((hot) => hot.objects.input(fileId, place))) }
      }
      // A list that misses what was made a moment ago would be wrong without anybody noticing.
      await this.#ingest()
      const places = await this.#connection.readHot((hot) => hot.objects.places(question.scope, question.type))
      return { id, kind: 'places', places }
    } catch (error) {
      return { id, kind: 'failed', reason: error instanceof Error ? error.message : String(error) }
    }
  }

  /** What stands in the journal may not be in the index yet: only behind it is a name unknown. */
  async #find(question: FindQuestion): Promise<StoredObject[]> {
    const found = await this.#look(question)
    if (!question.fresh || hasAll(question, found)) return found
    await this.#ingest()
    return await this.#look(question)
  }

  /** The same for what models thought. */
  async #reasoning(names: readonly string[]): Promise<Record<string, string>> {
    const look = () => this.#connection.readHot((hot) => hot.reasoning.find(names))
    const found = await look()
    if (names.every((name) => found[name] !== undefined)) return found
    await this.#ingest()
    return await look()
  }

  async #look({ names }: FindQuestion): Promise<StoredObject[]> {
    return await this.#connection.readHot((hot) => hot.objects.find(names))
  }
}

function hasAll({ count, scope }: FindQuestion, found: readonly StoredObject[]): boolean {
  const own = found.filter(
    (object) => object.projectId === scope.projectId && object.environmentId === scope.environmentId,
  )
  return new Set(own.map(({ type, id }) => `${type} ${id}`)).size === count
}
