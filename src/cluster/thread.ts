import { getEnvironmentData, type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { errorStack } from '../core/caught.ts'
import { armThread, reachFaultPoint } from '../core/fault-point.ts'
import { recallWord } from './budget-schema.ts'
import { Conditions, conditionWord } from './conditions.ts'
import { describeLoss, isUnusable, PostgresAway, PostgresRefusal } from './connect.ts'
import type { LimitEvents, LimitPart } from './limits/part.ts'
import { findSharers } from './limits/sharers.ts'
import { GatherNodes } from './objects/gather-nodes.ts'
import { SharedObjects } from './objects/shared-objects.ts'
import { Postgres } from './postgres.ts'
import type {
  ClusterMessage,
  ClusterRequest,
  ClusterThreadData,
  LimitsStart,
  OutboxReport,
  PostgresAddress,
} from './protocol.ts'
import { answerers } from './questions.ts'
import type { RecordReading } from './readings/reading.ts'
import { Readings } from './readings/readings.ts'
import { countedWord } from './records/claim-usage.ts'
import { Following } from './records/following.ts'
import { purgeWord } from './records/purge.ts'
import { repriceWord } from './records/reprice.ts'
import { Shipper } from './records/shipper.ts'
import { tryChanging } from './schema/configuration.ts'
import type { Self } from './self.ts'

const pollMs = 500
/** A node reports itself, and reads who else is there, with every so many polls. */
const beatPolls = 4
/** How long an append is repeated if its answer was lost. It takes effect once, however often it is sent. */
const retryMs = 3000

/** The cluster thread, the only one that talks to PostgreSQL. */
class ClusterThread {
  readonly #port: MessagePort
  readonly #address: PostgresAddress
  readonly #postgres: Postgres
  readonly #shipper: Shipper | null
  readonly #readings: Readings | null
  readonly #objects: SharedObjects | null
  readonly #following: Following | null
  readonly #nodes: GatherNodes
  readonly #conditions = new Conditions()
  /** For readings in progress. */
  readonly #stops = new Map<number, AbortController>()
  #self: Self | null = null
  #polls = 0
  #polling: NodeJS.Timeout | null = null
  #busy = false
  /** The members with which limits are counted; null: not known yet. */
  #members: readonly string[] | null = null
  /** In its run before this node counted limits for itself. */
  #cameAlone = false
  #limits: Promise<LimitPart> | null = null

  constructor(port: MessagePort, data: ClusterThreadData) {
    this.#port = port
    this.#address = data.address
    this.#postgres = new Postgres(data.address, {
      onLink: (trouble) => this.#post({ kind: 'link', trouble }),
      onNotify: (payload) => this.#hear(payload),
    })
    const { address, records } = data
    this.#nodes = new GatherNodes({
      postgres: this.#postgres,
      member: () => this.#self?.member ?? null,
      // Nobody asks for what is not shared.
      flush: async () => (this.#shipper === null ? null : await this.#shipper.flush()),
    })
    const objects = records === undefined ? null : new SharedObjects(address, () => this.#nodes.gather())
    this.#objects = objects
    const readings = records === undefined ? null : new Readings(address, this.#postgres)
    this.#readings = readings
    const following =
      records === undefined || readings === null
        ? null
        : new Following({
            ...{ postgres: this.#postgres, node: records.node },
            read: (ids) => readings.byIds(ids),
            onRecords: (records) => this.#post({ kind: 'ended', records }),
          })
    this.#following = following
    const report = (report: OutboxReport) => this.#post({ kind: 'outbox', report })
    this.#shipper =
      records === undefined || objects === null
        ? null
        : new Shipper({
            ...{ address, name: records.node, keeps: records, report },
            ask: (asked) => objects.answer(asked),
            isFollowed: () => following?.isFollowed === true,
          })
  }

  start(): void {
    void this.#postgres.run()
    this.#polling = setInterval(() => void this.#poll(), pollMs)
    this.#port.on('message', (request: ClusterRequest) => void this.#receive(request))
  }

  #hear(payload: string): void {
    if (this.#nodes.hear(payload) || this.#following?.hear(payload)) return
    const [word, period = '', ...counter] = payload.split(' ')
    if (word === purgeWord) this.#shipper?.purge()
    else if (word === repriceWord) this.#shipper?.reprice()
    else if (word === countedWord) this.#shipper?.counted()
    else if (word === conditionWord) this.#beatSoon()
    else if (word === recallWord) this.#post({ kind: 'recall', period, counter: counter.join(' ') })
    else void this.#poll()
  }

  async #receive(request: ClusterRequest): Promise<void> {
    if (request.kind === 'self') {
      this.#self = request.self
      this.#shipper?.be(request.self)
      // Limits are granted only to a node that knows the other members.
      void this.#poll()
    } else if (request.kind === 'limits') this.#shareLimits(request.start)
    else if (request.kind === 'limit-wanted') (await this.#limits)?.want(request.want)
    else if (request.kind === 'condition') {
      if (this.#conditions.set(request.condition)) this.#beatSoon()
    } else if (request.kind === 'keep') this.#shipper?.keep(request.keeps)
    else if (request.kind === 'follow') this.#following?.follow(request.wanted)
    else if (request.kind === 'notify') (await this.#limits)?.notify(request.text, request.keeps)
    else if (request.kind === 'ask') await this.#answer(request)
    else if (request.kind === 'stop') this.#stops.get(request.id)?.abort()
    else if (request.kind === 'outbox') this.#shipper?.take(request.port)
    else {
      if (this.#polling !== null) clearInterval(this.#polling)
      this.#following?.close()
      ;(await this.#limits)?.stop()
      await Promise.all([this.#shipper?.close(), this.#readings?.close(), this.#objects?.close()])
      await this.#postgres.close()
      this.#port.close()
      // Pending timers would keep the thread, and with it a gateway that stops, alive for seconds.
      process.exit()
    }
  }

  /** Loaded only if limits are shared. */
  #shareLimits(start: LimitsStart): void {
    const before = this.#limits
    const events: LimitEvents = {
      onTrouble: (trouble) => this.#post({ kind: 'valkey', trouble }),
      onHeard: (texts) => this.#post({ kind: 'heard', texts }),
      onChannel: (trouble) => this.#post({ kind: 'channel', trouble }),
    }
    this.#limits = import('./limits/part.ts').then(async ({ LimitPart }) => {
      ;(await before)?.stop()
      const part = await LimitPart.open(start, events)
      if (this.#members !== null) part.setMembers(this.#members, this.#cameAlone)
      return part
    })
  }

  async #answer(asked: Extract<ClusterRequest, { kind: 'ask' }>): Promise<void> {
    const { id, name } = asked
    try {
      const output = name === 'append' ? await this.#append(asked.input) : await this.#ask(asked)
      this.#post({ kind: 'answer', id, output })
    } catch (error) {
      const message = describeLoss(error, this.#address)
      const cause = error instanceof PostgresAway ? 'away' : isUnusable(error) ? 'unusable' : 'refused'
      const hint = error instanceof PostgresRefusal ? { hint: error.hint } : {}
      this.#post({ kind: 'failure', id, cause, message, ...hint })
    }
  }

  async #read(id: number, reading: RecordReading): Promise<unknown> {
    const stop = new AbortController()
    this.#stops.set(id, stop)
    try {
      return await this.#readings?.answer(reading, stop.signal)
    } finally {
      this.#stops.delete(id)
    }
  }

  async #ask({ id, name, input }: Extract<ClusterRequest, { kind: 'ask' }>): Promise<unknown> {
    if (name === 'ship') {
      await this.#shipper?.flush()
      return null
    }
    if (name === 'limits-granting') {
      await (await this.#limits)?.granting
      return null
    }
    if (name === 'limits-server') return (await this.#limits)?.facts ?? null
    if (name === 'read-others') return (await this.#readings?.readOthers(input)) ?? null
    if (name === 'read-objects') return (await this.#objects?.readBehind(input.after)) ?? null
    if (name === 'objects') return await this.#objects?.list(input)
    if (name === 'read-other-bodies') return (await this.#readings?.readOtherBodies(input)) ?? null
    if (name === 'bodies') return await this.#readings?.findBodies(input.id)
    if (name === 'read') return await this.#read(id, input)
    // The types of name and input belong together: that of the request ensures it.
    const answerer = answerers[name] as (client: never, input: never) => Promise<unknown>
    return await this.#postgres.ask((client) => answerer(client as never, input as never))
  }

  async #append(input: Parameters<typeof answerers.append>[1]): Promise<number> {
    const until = performance.now() + retryMs
    for (;;) {
      try {
        reachFaultPoint('append.before')
        const sequence = await this.#postgres.ask((client) => answerers.append(client, input))
        reachFaultPoint('append.after')
        return sequence
      } catch (error) {
        const rest = until - performance.now()
        if (!(error instanceof PostgresAway) || rest <= 0) throw error
        await this.#postgres.linkedWithin(rest)
      }
    }
  }

  /** Now, or with the next poll if one is in progress. */
  #beatSoon(): void {
    this.#polls = 0
    void this.#poll()
  }

  async #poll(): Promise<void> {
    if (this.#self === null || this.#busy) return
    this.#busy = true
    const { member, incarnation } = this.#self
    const beats = this.#polls++ % beatPolls === 0
    try {
      const { rows } = await this.#postgres.ask((client) =>
        client.query<{ sequence: string; member: boolean }>(
          `select h.sequence, exists (select from spgw.members where id = $1 and incarnation = $2) as member
           from spgw.head h`,
          [member, incarnation],
        ),
      )
      const head = rows[0]
      const isMember = head?.member === true
      this.#post({ kind: 'head', sequence: Number(head?.sequence ?? 0), member: isMember })
      // A gateway that is no longer a member must stop counting limits as that node at once.
      if (beats || !isMember) await this.#beat(this.#self, isMember)
    } catch (error) {
      // A loss is reported by the connection; anything else is reported here, and tried again.
      if (!(error instanceof PostgresAway)) this.#post({ kind: 'head', sequence: 0, member: false })
    } finally {
      this.#busy = false
    }
  }

  async #beat(self: Self, isMember: boolean): Promise<void> {
    const { member, incarnation } = self
    await this.#postgres.ask((client) =>
      client.query('update spgw.members set beat = now() where id = $1 and incarnation = $2', [member, incarnation]),
    )
    const members = await this.#postgres.ask((client) => answerers.members(client, null))
    const conditions = await this.#postgres.ask((client) => this.#conditions.exchange(client, self))
    // A removed node keeps showing the members that it knew, itself included.
    if (members.some(({ id }) => id === member)) this.#post({ kind: 'members', members, conditions })
    this.#members = findSharers(members, member, { isMember, conditions })
    this.#cameAlone ||= conditions[member]?.sharesLimits === false
    ;(await this.#limits)?.setMembers(this.#members, this.#cameAlone)
    // A right may be revoked at any time, and only a change would show it otherwise.
    if (isMember) await this.#postgres.ask((client) => client.query(tryChanging))
  }

  #post(message: ClusterMessage): void {
    this.#port.postMessage(message)
  }
}

armThread(getEnvironmentData, () => process.kill(process.pid, 'SIGKILL'))
if (parentPort !== null) {
  const port = parentPort
  process.on('uncaughtException', (error) => {
    const message: ClusterMessage = { kind: 'crashing', reason: errorStack(error) }
    port.postMessage(message)
    process.exit(1)
  })
  new ClusterThread(port, workerData as ClusterThreadData).start()
}
