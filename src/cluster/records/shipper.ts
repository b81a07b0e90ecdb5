import { setTimeout as wait } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { errorText } from '../../core/caught.ts'
import {
  type OutboxBatch,
  type OutboxMark,
  type OutboxState,
  shippedColumns,
} from '../../store/replica/outbox-types.ts'
import type { ObjectsAsked, ObjectsQuestion, ObjectsReply } from '../../store/replica/shared-change.ts'
import { describeLoss, isUnusable } from '../connect.ts'
import { ForgottenFeed } from '../objects/forgotten.ts'
import { OwnConnection } from '../own-connection.ts'
import type { KeepTimes, OutboxReport, PostgresAddress } from '../protocol.ts'
import { Repeater } from '../repeater.ts'
import { objectsPart } from '../schema/objects.ts'
import { ensurePart } from '../schema/parts.ts'
import { recordsPart } from '../schema/records.ts'
import { repricesPart } from '../schema/reprices.ts'
import type { Self } from '../self.ts'
import { keepDays } from './days.ts'
import { OutboxClient } from './outbox-client.ts'
import { OwnPurges } from './own-purges.ts'
import { OwnReprices } from './own-reprices.ts'
import { type Refusable, readWatermark, type ShippingNode, shipBatch } from './ship.ts'
import { UsageClaims } from './usage-claims.ts'
import { readCopied } from './write-records.ts'

const everyMs = 250
/** How often an unchanged state is reported. After half a minute without a report this thread counts as stuck. */
const repeatMs = 5000
/** How long a node that stops waits for the batch in progress. */
const closeMs = 500
const statementMs = 10_000
const settleEveryMs = 2000
const daysEveryMs = 10 * 60_000
/** While nothing can be shipped, the store is asked only this often how much waits. */
const lookEveryMs = 2000
/** One transaction takes PostgreSQL some ten milliseconds. */
const batchRecords = 2000
const batchBytes = 4 * 1024 * 1024

type FlushTurns = readonly PromiseWithResolvers<string | null>[]

const nothing: OutboxState = { depth: 0, since: null, history: false, usage: 0, usageSince: null }

export interface ShipperOptions {
  address: PostgresAddress
  /** This node's name in records. */
  name: string
  keeps: KeepTimes
  report(report: OutboxReport): void
  /** Whether somebody follows requests as they end. */
  isFollowed(): boolean
  /** Answers a question of the store to all nodes. */
  ask(asked: ObjectsAsked): Promise<unknown>
}

/** Ships what a node has stored to PostgreSQL, batch by batch, starting where PostgreSQL's watermark is. */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #connection: OwnConnection
  readonly #repeater: Repeater
  #keeps: KeepTimes
  /** The retention that PostgreSQL has been told. */
  #saidKeeps: KeepTimes | null = null
  #outbox: OutboxClient | null = null
  #self: Self | null = null
  /** PostgreSQL's watermark; null: not read yet over this connection. */
  #reached: number | null = null
  #state: OutboxState = nothing
  /** What PostgreSQL has and the store has not been told of yet. */
  #unsettled: OutboxMark | null = null
  #settledAt = Number.NEGATIVE_INFINITY
  #daysAt = Number.NEGATIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #reported = ''
  #reportedAt = Number.NEGATIVE_INFINITY
  #waiting: PromiseWithResolvers<string | null>[] = []
  readonly #forgotten = new ForgottenFeed()
  #purges: OwnPurges
  #reprices: OwnReprices
  #claims: UsageClaims

  constructor(options: ShipperOptions) {
    this.#options = options
    const { address } = options
    this.#keeps = options.keeps
    this.#connection = new OwnConnection({
      address,
      statementMs,
      onOpen: async () => {
        this.#reached = null
      },
    })
    this.#purges = new OwnPurges(this.#connection)
    this.#reprices = new OwnReprices(this.#connection)
    this.#claims = new UsageClaims(this.#connection)
    this.#repeater = new Repeater(everyMs, () => this.#turn())
  }

  /** Sets the member to ship as; null: nothing is shipped. */
  be(self: Self | null): void {
    this.#self = self
    this.#reached = null
    if (self === null) this.#state = nothing
    this.#purges = new OwnPurges(this.#connection)
    this.#reprices = new OwnReprices(this.#connection)
    this.#claims = new UsageClaims(this.#connection)
    this.#repeater.wake()
  }

  /** Sets the retention; PostgreSQL is told in the next turn. */
  keep(keeps: KeepTimes): void {
    this.#keeps = keeps
    this.#repeater.wake()
  }

  /** A purge was requested on a node, and this node has to do its part. */
  purge(): void {
    this.#purges.ask()
    this.#repeater.wake()
  }

  /** Costs were changed on a node, perhaps those of this node's records. */
  reprice(): void {
    this.#reprices.ask()
    this.#repeater.wake()
  }

  /** A node has counted the usage of background work. */
  counted(): void {
    this.#claims.check()
    this.#repeater.wake()
  }

  /** Sets the port of the outbox. */
  take(port: MessagePort): void {
    this.#outbox?.close()
    this.#outbox = new OutboxClient(port, (question) => this.#answer(question))
    this.#reached = null
    this.#repeater.wake()
  }

  /** Null: everything journaled before this call is in PostgreSQL; otherwise the reason why not. */
  async flush(): Promise<string | null> {
    const turn = Promise.withResolvers<string | null>()
    this.#waiting.push(turn)
    this.#repeater.wake()
    return await turn.promise
  }

  async close(): Promise<void> {
    // The rest may be much, and is shipped by the next run.
    this.#self = null
    // A batch that is cut off here is shipped by the next run.
    await Promise.race([this.#repeater.close(), wait(closeMs)])
    await this.#connection.close()
    this.#outbox?.close()
    this.#release(this.#waiting, 'the node stops')
  }

  async #turn(): Promise<void> {
    const waiting = this.#waiting.splice(0)
    const [self, outbox] = [this.#self, this.#outbox]
    if (self !== null && outbox !== null) {
      const failure = await this.#shipAll(self, outbox, waiting).catch((error: unknown) => {
        this.#reached = null
        return error
      })
      if (failure !== null) await this.#look(outbox)
      const trouble = failure === null ? null : describeLoss(failure, this.#options.address)
      this.#report(trouble, isUnusable(failure))
      if (trouble !== null) this.#release(waiting, trouble)
    } else {
      if (outbox !== null) await this.#look(outbox)
      const { since, usageSince } = this.#state
      this.#report(since === null && usageSince === null ? null : notTaken)
    }
    this.#release(waiting, 'it ships nothing now')
  }

  /** Called several times a second. An unchanged state is only repeated now and then, so that this thread does not count as stuck. */
  #report(trouble: string | null, isRefused = false): void {
    const report: OutboxReport = { ...this.#state, trouble, isRefused }
    const text = JSON.stringify(report)
    const now = performance.now()
    if (text === this.#reported && now - this.#reportedAt < repeatMs) return
    this.#reported = text
    this.#reportedAt = now
    this.#options.report(report)
  }

  /** Reads how much waits while nothing is shipped, so that a reported trouble says how much it holds back. */
  async #look(outbox: OutboxClient): Promise<void> {
    const now = performance.now()
    if (now - this.#lookedAt < lookEveryMs) return
    this.#lookedAt = now
    // A store that does not answer is a trouble of its own, reported elsewhere.
    this.#state = await outbox.ask('state', { after: null }).catch(() => this.#state)
  }

  /** Returns or throws the reason why it cannot continue; null: none. */
  async #shipAll(self: Self, outbox: OutboxClient, waiting: FlushTurns): Promise<unknown> {
    const node: ShippingNode = { self, name: this.#options.name, keeps: this.#keeps, isFollowed: false }
    if (waiting.length > 0) await outbox.ask('ingest', null)
    let after = await this.#resume(node, outbox)
    if (after === null) return new Error('PostgreSQL has no tables of records yet')
    // Before shipping, so that what this node counts is shipped too.
    let trouble = await this.#claims.settle(self, outbox, waiting.length > 0)
    while (this.#self === self) {
      const batch = await outbox.ask('read', { after, most: batchRecords, mostBytes: batchBytes, node: node.name })
      if (batch === null) {
        this.#state = { ...nothing, ...this.#claims.waiting }
        this.#release(waiting, null)
        await this.#forget(outbox)
        await this.#settle(outbox)
        await this.#followOthers(node, outbox)
        return trouble
      }
      if (batch.isHistory) {
        this.#release(waiting, null)
        trouble = await this.#claims.settle(self, outbox, false)
        // What was deleted or changed meanwhile must not be shipped in its old form.
        if (await this.#followOthers(node, outbox)) continue
      }
      after = await this.#ship(node, batch, outbox)
      if (after === null) return new Error('PostgreSQL takes nothing of this run of the node')
      // A long backlog is shipped in many batches.
      this.#report(null)
      // New callers do not wait for history: the next turn comes at once.
      if (batch.isHistory && this.#waiting.length > 0) return trouble
    }
    return null
  }

  /** Sets the outbox to PostgreSQL's watermark; null: the cluster's tables do not exist yet. */
  async #resume(node: ShippingNode, outbox: OutboxClient): Promise<number | null> {
    const mark = await this.#connection.use(async (client) => {
      if (this.#reached !== null && this.#saidKeeps === node.keeps) return this.#reached
      for (const part of [recordsPart, objectsPart, repricesPart]) if (!(await ensurePart(client, part))) return null
      const mark = await readWatermark(client, node)
      this.#saidKeeps = node.keeps
      return mark
    })
    if (mark === null) return null
    this.#reached = typeof mark === 'number' ? mark : await outbox.ask('resume', mark)
    await this.#keepDays()
    return this.#reached
  }

  async #ship(node: ShippingNode, batch: OutboxBatch, outbox: OutboxClient): Promise<number | null> {
    const { sequence, mark } = batch
    const isFollowed = this.#options.isFollowed()
    const shipped = await this.#connection.use((client) => shipBatch(client, { ...node, isFollowed }, batch))
    // Another run of this member, or another PostgreSQL: the watermark is read again in the next turn.
    if (shipped.kind === 'moved') this.#reached = null
    if (shipped.kind === 'moved' || this.#reached === null) return null
    const records = shipped.refused.map(textOf)
    if (records.length > 0) await outbox.ask('set-aside', { sequence, records })
    // Freed at once: V8 would run full collections every few seconds because of this memory, which is outside its heap.
    batch.records.copied.buffer.transfer(0)
    this.#reached = sequence
    this.#unsettled = { sequence, mark }
    await this.#settle(outbox)
    this.#state = await outbox.ask('state', { after: sequence })
    return sequence
  }

  /** Not after each batch: after a restart PostgreSQL is asked anyway. */
  async #settle(outbox: OutboxClient): Promise<void> {
    const now = performance.now()
    if (this.#unsettled === null || now - this.#settledAt < settleEveryMs) return
    await outbox.ask('shipped', this.#unsettled)
    this.#unsettled = null
    this.#settledAt = now
  }

  async #keepDays(): Promise<void> {
    const now = performance.now()
    if (now - this.#daysAt < daysEveryMs) return
    await this.#connection.use((client) => keepDays(client))
    this.#daysAt = now
  }

  async #answer({ question, ...asked }: ObjectsQuestion): Promise<ObjectsReply> {
    try {
      return { question, output: await this.#options.ask(asked) }
    } catch (error) {
      return { question, failure: errorText(error) }
    }
  }

  /** Applies what other nodes have forgotten. In each turn, since a name chosen by a client may soon belong to another. */
  async #forget(outbox: OutboxClient): Promise<void> {
    const forgotten = await this.#connection.use((client) => this.#forgotten.read(client))
    if (forgotten.length > 0) await outbox.ask('forget', forgotten)
  }

  /** Does a slice of purges and reprices of any node. If there is more, the next turn comes at once. Returns whether anything changed. */
  async #followOthers(node: ShippingNode, outbox: OutboxClient): Promise<boolean> {
    const purges = await this.#purges.doSlice(node, outbox)
    const reprices = await this.#reprices.doSome(node.self, outbox)
    if (purges.more || reprices) this.#repeater.wake()
    return purges.done || reprices
  }

  /** Resolving twice has no effect. */
  #release(waiting: FlushTurns, failure: string | null): void {
    for (const { resolve } of waiting) resolve(failure)
  }
}

/** A gateway on its own has nothing waiting. */
const notTaken = 'PostgreSQL was not reached since the start of this node, or did not take it'

/** The node is the first column. */
const textPlace = shippedColumns.indexOf('record_json') + 1

/** One line for a file. */
function textOf(row: Refusable): string {
  if ('copied' in row) return String(readCopied(Buffer.from(row.copied).toString())[0]?.[textPlace])
  return JSON.stringify(
    'sealed' in row && 'part' in row ? { ...row, sealed: Buffer.from(row.sealed).toString('base64') } : row,
  )
}
