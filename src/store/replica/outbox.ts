import type { MessagePort } from 'node:worker_threads'
import { errorText } from '../../core/caught.ts'
import { type Audience, storeAndNotify } from '../ingest/ingest.ts'
import { writeAside } from '../ingest/segment-files.ts'
import { bookClaims, countWaiting, releaseHolds } from '../ingest/shared-usage.ts'
import type { Stored } from '../ingest/store-batch.ts'
import type { PurgeQuestion, PurgeSlice } from '../records/record-tables.ts'
import { repriceRecords } from '../records/reprice.ts'
import type { Connection } from '../sqlite/connection.ts'
import type { HotStatements } from '../sqlite/hot-statements.ts'
import { ClaimStatements } from './claim-statements.ts'
import { objectHistoryStart } from './object-history.ts'
import { OtherNodes } from './other-nodes.ts'
import { OutboxStatements } from './outbox-statements.ts'
import type { OutboxBatch, OutboxQuestion, OutboxQuestions, OutboxReply } from './outbox-types.ts'
import { type ObjectsReply, reasoningType } from './shared-change.ts'

/** What the cluster's thread asks of the store besides. */
export interface OutboxWork {
  /** Brings in all that is journaled by the time it is called. */
  ingest(): Promise<unknown>
  /** `countBelow`: of bodies only those of ids below that are counted. */
  purge(question: PurgeQuestion, countBelow: string): Promise<PurgeSlice>
  /** Who is told of what is counted here after all. */
  readonly audience: Audience
}

/** What a node that shares its records has still to ship, as the cluster's thread asks for it. */
export class Outbox {
  readonly #connection: Connection
  readonly #journalDirectory: string
  readonly #work: OutboxWork
  readonly #others = new OtherNodes()
  #isShared = false

  constructor(connection: Connection, journalDirectory: string, work: OutboxWork) {
    this.#connection = connection
    this.#journalDirectory = journalDirectory
    this.#work = work
  }

  /** As which member; null: from now on nothing is shipped. What was stored before comes as well, after all that is new. */
  async begin(member: string | null): Promise<void> {
    await this.#store((hot, stored) => {
      const { sqlite } = this.#connection
      const known = sqlite.prepare('select member from outbox_state').pluck().get() ?? null
      if (known !== member) sqlite.exec('delete from outbox; delete from outbox_state')
      if (known !== member && member !== null)
        sqlite
          .prepare(
            "insert into outbox_state (member, history, object_history, sequence, mark) values (?, '~', ?, 0, '')",
          )
          .run(member, objectHistoryStart)
      hot.outbox = member === null ? null : new OutboxStatements(sqlite)
      if (member === null) countWaiting(hot, new ClaimStatements(sqlite), new Date().toISOString(), stored)
    })
    this.#isShared = member !== null
  }

  /** Whoever knows what all nodes have stored; null: this gateway is alone with it. */
  get others(): OtherNodes | null {
    return this.#isShared ? this.#others : null
  }

  serve(port: MessagePort): void {
    this.#others.attach(port)
    port.on('message', (question: OutboxQuestion | ObjectsReply) => {
      if ('question' in question) return this.#others.hear(question)
      void this.#reply(question).then((reply) => port.postMessage(reply, listMoved(question, reply)))
    })
    // It keeps no thread alive that has nothing else to do.
    port.unref()
  }

  async #reply(question: OutboxQuestion): Promise<OutboxReply> {
    const { id } = question
    try {
      return { id, output: await this.#answer(question) }
    } catch (error) {
      return { id, failure: errorText(error) }
    }
  }

  async #answer(question: OutboxQuestion): Promise<unknown> {
    const { act, input } = question
    switch (act) {
      case 'ingest':
        return void (await this.#work.ingest())
      case 'purge':
        return await this.#work.purge(input, await this.#look((outbox) => outbox.unnoted))
      case 'reprice':
        return await this.#connection.write((db) => repriceRecords(db, input))
      case 'resume':
        return await this.#change((outbox) => outbox.resume(input))
      case 'shipped':
        return await this.#change((outbox) => outbox.settle(input))
      case 'state':
        return await this.#look((outbox) => outbox.state(input.after))
      case 'claims':
        return await this.#look((outbox) => outbox.claims.list(input.after))
      case 'claimed':
        return await this.#store((hot, stored) => bookClaims(hot, input, Date.now(), stored))
      case 'holds':
        return await this.#look((outbox) => outbox.claims.listHolds(input))
      case 'release':
        return await this.#store((hot, stored) => releaseHolds(hot, input, stored))
      case 'set-aside':
        return this.#setAside(input)
      case 'forget':
        return await this.#connection.writeHot((hot) => {
          for (const object of input)
            if (object.type === reasoningType) hot.reasoning.forget(object.id)
            else hot.objects.forget(object)
        })
      case 'read':
        return await this.#read(input)
    }
  }

  #look<Output>(run: (outbox: OutboxStatements) => Output): Promise<Output> {
    return this.#connection.readHot((hot) => run(outboxOf(hot)))
  }

  #change<Output>(run: (outbox: OutboxStatements) => Output): Promise<Output> {
    return this.#connection.writeHot((hot) => run(outboxOf(hot)))
  }

  /** What is new first; then the objects that stood here before, of which others may be asked any moment; then the rest. */
  async #read(input: OutboxQuestions['read']['input']): Promise<OutboxBatch | null> {
    const read = () => this.#look((outbox) => outbox.read(input))
    const found = await read()
    if (found !== null || !(await this.#look((outbox) => outbox.hasHistory))) return found
    if (await this.#change((outbox) => outbox.addObjectHistory())) return await read()
    if (!(await this.#change((outbox) => outbox.addBodyHistory() || outbox.addHistory()))) return null
    const history = await read()
    return history && { ...history, isHistory: true }
  }

  async #store(run: (hot: HotStatements, stored: Stored) => void): Promise<undefined> {
    await storeAndNotify(this.#connection, this.#work.audience, run)
  }

  #setAside({ sequence, records }: { sequence: number; records: string[] }): null {
    writeAside(this.#journalDirectory, `outbox-${sequence}.jsonl`, records)
    return null
  }
}

/** A batch's text is moved and not copied: there is much of it. */
function listMoved({ act }: OutboxQuestion, reply: OutboxReply): ArrayBuffer[] {
  const batch = act === 'read' && 'output' in reply ? (reply.output as OutboxBatch | null) : null
  return batch === null ? [] : [batch.records.copied.buffer]
}

function outboxOf({ outbox }: HotStatements): OutboxStatements {
  if (outbox === null) throw new Error('this node ships no records')
  return outbox
}
