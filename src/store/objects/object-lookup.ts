import type { MessagePort } from 'node:worker_threads'
import { type CacheQuestion, isCacheQuestion } from '../../core/cached-answer.ts'
import { errorText } from '../../core/caught.ts'
import type { BatchHeldEntry } from '../../core/journal-format.ts'
import type {
  CountedPlace,
  FindQuestion,
  InputQuestion,
  ObjectQuestion,
  ObjectReply,
  PartAnswer,
  PlacesQuestion,
  ReasoningQuestion,
  UploadPartQuestion,
  WorkQuestion,
} from '../../core/objects/object-question.ts'
import type { StoredObject } from '../../core/objects/stored-object.ts'
import type { OtherNodes } from '../replica/other-nodes.ts'
import type { Connection } from '../sqlite/connection.ts'
import { readJson } from '../sqlite/json-column.ts'
import { HeldInputs } from './held-inputs.ts'
import type { ObjectStatements } from './object-statements.ts'

/** How long a request waits when other nodes are asked as well. */
const othersMs = 1500

/** Answers the look-ups of data-plane threads, each over a port of its own. */
export class ObjectLookup {
  readonly #connection: Connection
  readonly #ingest: () => Promise<unknown>
  readonly #others: () => Pick<OtherNodes, 'ask'> | null
  readonly #uploads = new HeldInputs()

  /** `ingest` brings in all that is journaled by the time it is called; those who ask at once share it. `others`: null where nobody shares it. */
  constructor(
    connection: Connection,
    ingest: () => Promise<unknown>,
    others: () => Pick<OtherNodes, 'ask'> | null = () => null,
  ) {
    this.#connection = connection
    this.#ingest = ingest
    this.#others = others
  }

  serve(port: MessagePort): void {
    port.on('message', (question: ObjectQuestion | CacheQuestion) => {
      if (isCacheQuestion(question)) return
      let answered = false
      void this.#answer(question).then((reply) => {
        answered = true
        port.postMessage(reply)
      })
      // The caller waits longer for a busy thread than for an unhealthy one. Nearly all questions are answered by then.
      setImmediate(() => {
        if (!answered) port.postMessage({ id: question.id, kind: 'begun', ...this.#longerTime() } satisfies ObjectReply)
      })
    })
    // The port alone does not keep the thread alive.
    port.unref()
  }

  #longerTime(): { withinMs?: number } {
    return this.#others() === null ? {} : { withinMs: othersMs }
  }

  async #answer(question: ObjectQuestion): Promise<ObjectReply> {
    const { id } = question
    try {
      if (question.kind === 'find') return { id, kind: 'found', objects: await this.#find(question) }
      if (question.kind === 'reasoning') return { id, kind: 'reasoning', ...(await this.#reasoning(question)) }
      if (question.kind === 'part') return { id, kind: 'part', ...(await this.#part(question)) }
      if (question.kind === 'input') return { id, kind: 'input', ...(await this.#input(question)) }
      if (question.kind === 'work') return { id, kind: 'work', held: await this.#work(question) }
      return { id, kind: 'places', places: await this.#places(question) }
    } catch (error) {
      return { id, kind: 'failed', reason: errorText(error) }
    }
  }

  /**
   * What is journaled may not be in the index yet: a name is unknown only once the journal has been read; where nodes
   * share objects, the journals of all nodes. What is found here is answered without asking the others.
   */
  async #find(question: FindQuestion): Promise<StoredObject[]> {
    const { names, fresh } = question
    const found = await this.#look(question)
    if (hasAll(question, found)) return found
    const others = this.#others()
    const shared = others?.ask<StoredObject[]>({ act: 'find', names, settled: false })
    // Looked at below, where it is needed.
    shared?.catch(() => {})
    if (fresh) await this.#ingest()
    const own = fresh ? await this.#look(question) : found
    if (others === null || shared === undefined || hasAll(question, own)) return own
    const all = join(own, await shared)
    if (!fresh || hasAll(question, all)) return all
    return join(own, await others.ask<StoredObject[]>({ act: 'find', names, settled: true }))
  }

  /** The same for sealed reasoning; without a certain answer the question is asked again next time. */
  async #reasoning({ names, isNeeded }: ReasoningQuestion): Promise<Pick<FoundReasoning, 'found' | 'certain'>> {
    const look = () => this.#connection.readHot((hot) => hot.reasoning.find(names))
    const isWhole = (found: Record<string, string>) => names.every((name) => found[name] !== undefined)
    const found = await look()
    if (isWhole(found)) return { found, certain: true }
    await this.#ingest()
    const own = await look()
    const others = this.#others()
    if (others === null || isWhole(own)) return { found: own, certain: true }
    const ask = (settled: boolean) => others.ask<Record<string, string>>({ act: 'reasoning', names, settled })
    let all = own
    try {
      all = { ...own, ...(await ask(false)) }
      if (isWhole(all)) return { found: all, certain: true }
      return isNeeded ? { found: { ...all, ...(await ask(true)) }, certain: true } : { found: all, certain: false }
    } catch {
      return { found: all, certain: false }
    }
  }

  /** A list that misses what was made a moment ago would be wrong without anybody noticing. */
  async #places({ scope, type }: PlacesQuestion): Promise<CountedPlace[]> {
    const { projectId, environmentId } = scope
    const others = this.#others()
    if (others !== null) return await others.ask<CountedPlace[]>({ act: 'places', projectId, environmentId, type })
    await this.#ingest()
    return await this.#connection.readHot((hot) => hot.objects.places(scope, type))
  }

  async #input({ fileId, place }: InputQuestion): Promise<ReturnType<ObjectStatements['input']>> {
    const own = await this.#connection.readHot((hot) => hot.objects.input(fileId, place))
    const others = this.#others()
    if (others === null || own.input !== null || own.adopted) return own
    const { providerId, credentialId } = place
    return await others.ask({ act: 'input', fileId, providerId, credentialId })
  }

  /** Its state with everything that is journaled by now. Unknown when other nodes cannot answer. */
  async #work({ work }: WorkQuestion): Promise<string | null> {
    await this.#ingest()
    const own = await this.#connection.readHot((hot) => hot.holds.find(work))
    const others = this.#others()
    if (others === null || (own !== null && readJson<BatchHeldEntry>(own).model !== null)) return own
    const ask = (settled: boolean) => others.ask<BatchHeldEntry | null>({ act: 'work', ...work, settled })
    try {
      const shared = (await ask(false)) ?? (await ask(true))
      return shared === null ? own : JSON.stringify(shared)
    } catch {
      return own
    }
  }

  /** How far uploads are that come in several calls: where nodes share it, none of them alone knows. */
  async #part({ part }: UploadPartQuestion): Promise<PartAnswer> {
    const others = this.#others()
    return others === null ? this.#uploads.answer(part) : await others.ask({ act: 'part', part })
  }

  async #look({ names }: FindQuestion): Promise<StoredObject[]> {
    return await this.#connection.readHot((hot) => hot.objects.find(names))
  }
}

type FoundReasoning = Extract<ObjectReply, { kind: 'reasoning' }>

function hasAll({ count, scope }: FindQuestion, found: readonly StoredObject[]): boolean {
  const own = found.filter(
    (object) => object.projectId === scope.projectId && object.environmentId === scope.environmentId,
  )
  return new Set(own.map(({ type, id }) => `${type} ${id}`)).size === count
}

/** An object that both know stands once. */
function join(own: readonly StoredObject[], shared: readonly StoredObject[]): StoredObject[] {
  const keyOf = ({ type, id, providerId, credentialId }: StoredObject) =>
    JSON.stringify([type, id, providerId, credentialId])
  const known = new Set(own.map(keyOf))
  return [...own, ...shared.filter((object) => !known.has(keyOf(object)))]
}
