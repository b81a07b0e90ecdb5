import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import { errorText } from '../../core/caught.ts'
import { type Audience, notify } from '../ingest/ingest.ts'
import { setAsideFolder } from '../ingest/segment-files.ts'
import { bookClaims, countWaiting, releaseHolds } from '../ingest/shared-usage.ts'
import { Stored } from '../ingest/store-batch.ts'
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
    if (act === 'ingest') return void (await this.#work.ingest())
    if (act === 'purge') return await this.#purge(input)
    if (act === 'reprice') return await this.#connection.write((db) => repriceRecords(db, input))
    if (act === 'resume') return await this.#connection.writeHot((hot) => outboxOf(hot).resume(input))
    if (act === 'shipped') return await this.#connection.writeHot((hot) => outboxOf(hot).settle(input))
    if (act === 'state') return await this.#connection.readHot((hot) => outboxOf(hot).state(input.after))
    if (act === 'claims') return await this.#connection.readHot((hot) => outboxOf(hot).claims.list(input.after))
    if (act === 'claimed') return await this.#store((hot, stored) => bookClaims(hot, input, Date.now(), stored))
    if (act === 'holds') return await this.#connection.readHot((hot) => outboxOf(hot).claims.listHolds(input))
    if (act === 'release') return await this.#store((hot, stored) => releaseHolds(hot, input, stored))
    if (act === 'set-aside') return this.#setAside(input)
    if (act === 'forget')
      return await this.#connection.writeHot((hot) => {
        for (const object of input)
          if (object.type === reasoningType) hot.reasoning.forget(object.id)
          else hot.objects.forget(object)
      })
    return await this.#read(input)
  }

  async #purge(question: PurgeQuestion): Promise<PurgeSlice> {
    return await this.#work.purge(question, await this.#connection.readHot((hot) => outboxOf(hot).unnoted))
  }

  /** What is new first; then the objects that stood here before, of which others may be asked any moment; then the rest. */
  async #read(input: OutboxQuestions['read']['input']): Promise<OutboxBatch | null> {
    const read = () => this.#connection.readHot((hot) => outboxOf(hot).read(input))
    const found = await read()
    if (found !== null || !(await this.#connection.readHot((hot) => outboxOf(hot).hasHistory))) return found
    if (await this.#connection.writeHot((hot) => outboxOf(hot).addObjectHistory())) return await read()
    const more = (hot: HotStatements) => outboxOf(hot).addBodyHistory() || outboxOf(hot).addHistory()
    if (!(await this.#connection.writeHot(more))) return null
    const history = await read()
    return history && { ...history, isHistory: true }
  }

  /** What it comes to is told when it is committed. */
  async #store(run: (hot: HotStatements, stored: Stored) => void): Promise<undefined> {
    const { audience } = this.#work
    const stored = await this.#connection.writeHot((hot) => {
      const begun = new Stored(audience)
      run(hot, begun)
      return begun
    })
    notify(audience, stored)
  }

  #setAside({ sequence, records }: { sequence: number; records: string[] }): null {
    const folder = join(this.#journalDirectory, setAsideFolder)
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, `outbox-${sequence}.jsonl`), records.map((text) => `${text}\n`).join(''), {
      mode: 0o600,
    })
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
