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
/** What has not changed is reported so often. Whoever hears nothing for half a minute takes this thread for stuck. */
const repeatMs = 5000
/** So long a node that stops waits for the batch under way. */
const closeMs = 500
const statementMs = 10_000
const settleEveryMs = 2000
const daysEveryMs = 10 * 60_000
/** While nothing can be shipped the store is not asked in each turn how much waits. */
const lookEveryMs = 2000
/** One transaction: some ten milliseconds of PostgreSQL's time. */
const batchRecords = 2000
const batchBytes = 4 * 1024 * 1024

type FlushTurns = readonly PromiseWithResolvers<string | null>[]

const nothing: OutboxState = { depth: 0, since: null, history: false, usage: 0, usageSince: null }

export interface ShipperOptions {
  address: PostgresAddress
  /** Of this node, as its records name it. */
  name: string
  keeps: KeepTimes
  report(report: OutboxReport): void
  /** Whether somebody follows requests as they end. */
  isFollowed(): boolean
  /** What the store asks of all nodes. */
  ask(asked: ObjectsAsked): Promise<unknown>
}

/** Brings what a node has stored to PostgreSQL, batch by batch, and goes on where PostgreSQL says that it is. */
export class Shipper {
  readonly #options: ShipperOptions
  readonly #connection: OwnConnection
  readonly #repeater: Repeater
  #keeps: KeepTimes
  /** What PostgreSQL has heard of that. */
  #saidKeeps: KeepTimes | null = null
  #outbox: OutboxClient | null = null
  #self: Self | null = null
  /** The number that PostgreSQL is at; null: it was not asked, or not by this connection. */
  #reached: number | null = null
  #state: OutboxState = nothing
  /** What PostgreSQL has, and the store was not told of yet. */
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

  /** As which member; null: it rests. */
  be(self: Self | null): void {
    this.#self = self
    this.#reached = null
    if (self === null) this.#state = nothing
    this.#purges = new OwnPurges(this.#connection)
    this.#reprices = new OwnReprices(this.#connection)
    this.#claims = new UsageClaims(this.#connection)
    this.#repeater.wake()
  }

  /** From now on; PostgreSQL hears of it in the next turn. */
  keep(keeps: KeepTimes): void {
    this.#keeps = keeps
    this.#repeater.wake()
  }

  /** Something was purged on a node, and of this one's is to go as well. */
  purge(): void {
    this.#purges.ask()
    this.#repeater.wake()
  }

  /** Records were given another cost on a node, perhaps some of this one. */
  reprice(): void {
    this.#reprices.ask()
    this.#repeater.wake()
  }

  /** What background work used was counted on a node. */
  counted(): void {
    this.#claims.check()
    this.#repeater.wake()
  }

  /** Where what is to be shipped comes from, from now on. */
  take(port: MessagePort): void {
    this.#outbox?.close()
    this.#outbox = new OutboxClient(port, (question) => this.#answer(question))
    this.#reached = null
    this.#repeater.wake()
  }

  /** Null: what was journaled before this was called is in PostgreSQL; else why it could not be brought there now. */
  async flush(): Promise<string | null> {
    const turn = Promise.withResolvers<string | null>()
    this.#waiting.push(turn)
    this.#repeater.wake()
    return await turn.promise
  }

  async close(): Promise<void> {
    // What is left may be a lot, and is shipped by the next run.
    this.#self = null
    // A batch that is cut off there comes with the next run, once.
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

  /** Several times a second, and mostly nothing new; that is said from time to time, or this thread would be taken for stuck. */
  #report(trouble: string | null, isRefused = false): void {
    const report: OutboxReport = { ...this.#state, trouble, isRefused }
    const text = JSON.stringify(report)
    const now = performance.now()
    if (text === this.#reported && now - this.#reportedAt < repeatMs) return
    this.#reported = text
    this.#reportedAt = now
    this.#options.report(report)
  }

  /** What waits where nothing is shipped: whoever is told of a trouble is told what it keeps back. */
  async #look(outbox: OutboxClient): Promise<void> {
    const now = performance.now()
    if (now - this.#lookedAt < lookEveryMs) return
    this.#lookedAt = now
    // A store that does not answer is a trouble of its own, and shown as such.
    this.#state = await outbox.ask('state', { after: null }).catch(() => this.#state)
  }

  /** Returns, or throws, what keeps it from going on; null: nothing does. */
  async #shipAll(self: Self, outbox: OutboxClient, waiting: FlushTurns): Promise<unknown> {
    const node: ShippingNode = { self, name: this.#options.name, keeps: this.#keeps, isFollowed: false }
    if (waiting.length > 0) await outbox.ask('ingest', null)
    let after = await this.#resume(node, outbox)
    if (after === null) return new Error('PostgreSQL has no tables of records yet')
    // Before anything is shipped: what this node counts goes with it.
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
        // What was deleted or changed meanwhile must not come from the batch as it was.
        if (await this.#followOthers(node, outbox)) continue
      }
      after = await this.#ship(node, batch, outbox)
      if (after === null) return new Error('PostgreSQL takes nothing of this run of the node')
      // Whatever is behind for long comes in many batches.
      this.#report(null)
      // Who began to wait meanwhile waits for no history: the next turn comes at once.
      if (batch.isHistory && this.#waiting.length > 0) return trouble
    }
    return null
  }

  /** Where PostgreSQL is, and with that the outbox; null: the cluster's tables are not there yet. */
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
    // Another run of this member, or a PostgreSQL that is elsewhere: asked anew in the next turn.
    if (shipped.kind === 'moved') this.#reached = null
    if (shipped.kind === 'moved' || this.#reached === null) return null
    const records = shipped.refused.map(textOf)
    if (records.length > 0) await outbox.ask('set-aside', { sequence, records })
    // At once: memory outside of V8's heap makes it look for garbage all over, every few seconds, and there is none.
    batch.records.copied.buffer.transfer(0)
    this.#reached = sequence
    this.#unsettled = { sequence, mark }
    await this.#settle(outbox)
    this.#state = await outbox.ask('state', { after: sequence })
    return sequence
  }

  /** Not with each batch: whoever starts again asks PostgreSQL. */
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

  /** What others have forgotten. In each turn: a name that a client chose may be another's a moment later. */
  async #forget(outbox: OutboxClient): Promise<void> {
    const forgotten = await this.#connection.use((client) => this.#forgotten.read(client))
    if (forgotten.length > 0) await outbox.ask('forget', forgotten)
  }

  /** What was purged or repriced on any node; more of it in the next turn, which comes at once. Returns whether something was. */
  async #followOthers(node: ShippingNode, outbox: OutboxClient): Promise<boolean> {
    const purges = await this.#purges.doSlice(node, outbox)
    const reprices = await this.#reprices.doSome(node.self, outbox)
    if (purges.more || reprices) this.#repeater.wake()
    return purges.done || reprices
  }

  /** Who was released before is not again. */
  #release(waiting: FlushTurns, failure: string | null): void {
    for (const { resolve } of waiting) resolve(failure)
  }
}

/** Whoever is alone has nothing that waits. */
const notTaken = 'PostgreSQL was not reached since the start of this node, or did not take it'

/** The node comes before them. */
const textPlace = shippedColumns.indexOf('record_json') + 1

/** As a line of a file. */
function textOf(row: Refusable): string {
  if ('copied' in row) return String(readCopied(Buffer.from(row.copied).toString())[0]?.[textPlace])
  return JSON.stringify(
    'sealed' in row && 'part' in row ? { ...row, sealed: Buffer.from(row.sealed).toString('base64') } : row,
  )
}
