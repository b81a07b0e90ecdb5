import { join } from 'node:path'
import type { ClusterFace, Runtime, SentCall, SentPiece } from '../admin/handlers/context.ts'
import type { Settings } from '../config/settings.ts'
import { errorText } from '../core/caught.ts'
import type { PartName } from '../core/degraded.ts'
import { Liveness } from '../core/threads/turn-watch.ts'
import type { TrafficEvent } from '../gateway/gateway.ts'
import type { ServerCertificate } from '../gateway/thread/messages.ts'
import { heldBytes, requestsInFlight, requestsServed } from '../policy/counters.ts'
import type { LimitCounters } from '../policy/limits/limit-counters.ts'
import type { LimitMemory } from '../policy/limits/limit-memory.ts'
import { failureCause } from '../routing/failure-cause.ts'
import { showProviderState } from '../routing/shown-state.ts'
import type { SnapshotProvider } from '../store/configuration/snapshot.ts'
import { Backups } from './backup/backup.ts'
import type { ScheduledBackups } from './backup/scheduled-backups.ts'
import { Budgets } from './budgets/budgets.ts'
import { limitUsage } from './budgets/limit-usage.ts'
import { inspections } from './calls/inspections.ts'
import { LazyTransport } from './calls/lazy-transport.ts'
import type { OwnAddress } from './calls/try-route.ts'
import { departureOf } from './departure.ts'
import { type Foundation, keepsOf, retentionOf } from './foundation.ts'
import { DegradedParts } from './health/degraded-parts.ts'
import { attachShared, countWorkers, createSharedMemory, sharedCounts } from './health/memory.ts'
import { ReadinessKeeper } from './health/readiness.ts'
import { StateHistory, type StateHistoryOptions } from './health/state-history.ts'
import { StoreWatch } from './health/store-watch.ts'
import type { Log } from './log.ts'
import { ingestSoon } from './records/ingest-soon.ts'
import { TrafficWindow } from './records/recent-traffic.ts'
import { followRecords } from './records/record-feed.ts'
import { RequestLog } from './records/request-log.ts'
import { routingView } from './routing-view.ts'
import { LazyTraces } from './telemetry/lazy-traces.ts'
import { hostOf, loopbackOf, revealProxies, toGatewaySettings } from './threads/gateway-settings.ts'
import { Publisher } from './threads/publisher.ts'
import { TurnLog } from './threads/turn-log.ts'
import { WorkerPool } from './threads/worker-pool.ts'

export interface ControlPlaneOptions {
  settings: Settings
  /** The certificate of the gateway's listener; null: plain HTTP. */
  certificate: ServerCertificate | null
  version: string
  foundation: Foundation
  boot: string
  /** The gateway's port, known to be free. */
  port: number
  consoleUrl(): string
  log: Log
  /** Writes a line whatever the log's level and format. */
  writeLog(line: string): void
  /** null: the gateway is in no cluster. */
  cluster: ClusterFace | null
  /** A thread needs more of a budget, or of a limit, that nodes share. */
  onWant(event: Extract<TrafficEvent, { type: 'allowance-wanted' | 'limit-wanted' }>): void
}

/** Publishes what the store holds to the data plane, and handles what traffic reports. */
export class ControlPlane {
  readonly #options: ControlPlaneOptions
  readonly transport: LazyTransport
  readonly #shared: ReturnType<typeof attachShared>
  readonly limitMemory: LimitMemory
  readonly #workers: WorkerPool
  readonly #publisher: Publisher
  readonly #budgets: Budgets
  readonly #backups: Backups
  /** Loaded if backups are scheduled. */
  #scheduled: Promise<ScheduledBackups> | null = null
  readonly #traces: LazyTraces
  readonly #requestLog: RequestLog
  readonly #keeper: ReadinessKeeper
  readonly #degraded: DegradedParts
  readonly #storeWatch: StoreWatch
  readonly #stateHistory: StateHistory
  /** By thread. */
  readonly #entriesLost = new Map<number, number>()
  readonly #startedAt = new Date().toISOString()
  readonly #traffic = new TrafficWindow(Date.now())
  readonly #liveness: Liveness
  readonly #turns: TurnLog
  /** Models that were called, by provider slot: at most as many as the health memory has rows. */
  readonly #watched = new Map<number, Set<string>>()
  #changes = 0
  #settings: Settings
  #certificate: ServerCertificate | null

  constructor(options: ControlPlaneOptions) {
    const { settings, foundation, boot, log } = options
    const { store, keyring, journalDirectory } = foundation
    this.#options = options
    this.#settings = settings
    this.transport = new LazyTransport(revealProxies(settings))
    this.#certificate = options.certificate
    const workers = countWorkers(settings.gateway.workers)
    const memory = createSharedMemory(workers, sharedCounts(settings.cluster))
    this.limitMemory = memory.limits
    this.#shared = attachShared(memory)
    this.#liveness = new Liveness(memory.liveness)
    this.#turns = new TurnLog(log)
    this.#degraded = new DegradedParts(log, (parts) => this.#workers.degraded(parts))
    this.#storeWatch = new StoreWatch({
      store,
      log,
      setAsideDirectory: join(journalDirectory, 'set-aside'),
      onDegraded: (reason) => this.#degraded.report('store', 'store', reason),
    })
    this.#stateHistory = new StateHistory({ store, states: () => this.#shownStates() })
    this.#workers = new WorkerPool({
      ...{ workers, journalDirectory, boot, memory },
      settings: toGatewaySettings(this.#settings, this.#options.port),
      certificate: options.certificate,
      whole: () => this.#publisher.whole(),
      degraded: () => this.#degraded.list(),
      serveObjects: (port) => store.serveObjects(port),
      onTraffic: (event, thread) => this.#hear(event, thread),
      onDeath: (thread, reason) => {
        log.error('a data-plane thread crashed and is being replaced', { thread, reason })
        this.#degraded.report('journal', String(thread), null)
      },
      onDegraded: (reason) => this.#degraded.report('thread', 'fleet', reason),
      onWriters: (writers) => store.setWriters(writers),
    })
    store.onTraffic((tally) => this.#traffic.add(tally))
    store.onSettledHolds((settled) => this.#shared.limits.settleKept(settled))
    store.onLongTurn((turn) => this.#turns.report('store', turn))
    store.onChange(() => void this.#changes++)
    store.watchThread({
      onDeath: (reason) => log.error('the store thread crashed and is being restarted', { reason }),
      onRevival: () => {
        this.#workers.connectObjects()
        this.#publishAnew()
      },
    })
    this.#requestLog = new RequestLog(store, options.writeLog)
    this.#requestLog.change(settings.log.requests)
    this.#backups = new Backups({ ...foundation, dataDirectory: settings.dataDirectory, version: options.version })
    this.#publisher = new Publisher(store, keyring, this.#workers)
    this.#budgets = new Budgets(store, this.#shared.limits, log, options.cluster)
    this.#traces = new LazyTraces({
      ...{ store, version: options.version, log, transport: () => this.transport.open() },
      configuration: () => this.#publisher.configuration,
    })
    this.#keeper = new ReadinessKeeper({
      store,
      keyring,
      transport: () => this.transport.open(),
      log,
      publish: () => this.#publish(),
      markReady: (providerId) => this.#markReady(providerId),
      pause: (providerId) => this.#pause(providerId),
      coolDown: (providerId, index, until) => this.#coolDown(providerId, index, until),
    })
  }

  get gatewayUrl(): string {
    const { url, host } = this.#settings.gateway
    return url ?? `${this.#scheme}://${hostOf(host)}:${this.#options.port}`
  }

  /** The data plane's address on this machine, whatever `gateway.url` says. */
  get listener(): string {
    return this.#ownAddress().origin
  }

  /** Puts new settings into use; resolves when every thread has them. A null certificate keeps the current one. */
  async change(settings: Settings, certificate: ServerCertificate | null): Promise<void> {
    this.#settings = settings
    this.#certificate = certificate ?? this.#certificate
    this.#options.foundation.store.keepRecords(retentionOf(settings))
    this.#requestLog.change(settings.log.requests)
    await this.#scheduleBackups()
    await this.#traces.change(this.#settings.telemetry)
    await this.#workers.settings(toGatewaySettings(this.#settings, this.#options.port), certificate)
  }

  /** Why the settings of the last reload are not in use; null: they are. */
  reportConfiguration(reason: string | null): void {
    this.#degraded.report('configuration', 'reload', reason)
  }

  /** Why a part that depends on other nodes is degraded; null: it is not. */
  reportCluster(part: PartName, reason: string | null): void {
    this.#degraded.report(part, 'cluster', reason)
  }

  get limits(): LimitCounters {
    return this.#shared.limits
  }

  /** Every data-plane thread has the snapshot and accepts connections when this resolves; `prepare` ends before that. */
  async start(prepare: () => Promise<void> | undefined): Promise<void> {
    this.#turns.start(this.#liveness)
    await this.#storeWatch.start()
    await this.#publish()
    await this.#workers.start()
    await this.#keeper.start()
    void this.#budgets.open()
    await prepare()
    await this.#workers.listen()
    this.#stateHistory.start()
    await this.#scheduleBackups()
    await this.#traces.change(this.#settings.telemetry)
  }

  #shownStates(): ReturnType<StateHistoryOptions['states']> {
    return this.#publisher.configuration.providers.map(({ id, slot, credentials, readiness }) => ({
      id,
      state: showProviderState(readiness, this.#shared.health.view(slot, Date.now(), credentials.length)),
    }))
  }

  async #scheduleBackups(): Promise<void> {
    const { backup } = this.#settings
    if (backup === null && this.#scheduled === null) return
    this.#scheduled ??= import('./backup/scheduled-backups.ts').then(
      (module) =>
        new module.ScheduledBackups({
          take: () => this.#backups.take({ credentials: true, records: true }),
          onDegraded: (reason) => this.#degraded.report('backup', 'schedule', reason),
          log: this.#options.log,
        }),
    )
    ;(await this.#scheduled).change(backup)
  }

  /** Waits for open requests, up to the limit. Their records are in the store when this resolves. */
  async stop(): Promise<void> {
    this.#keeper.stop()
    this.#stateHistory.stop()
    await this.#workers.drain(this.#settings.gateway)
    this.#storeWatch.stop()
    await (await this.#scheduled)?.stop()
    this.#turns.stop()
    await this.#storeRest()
    await this.#traces.stop()
    await this.transport.close()
  }

  get settings(): Settings {
    return this.#settings
  }

  runtime(): Runtime {
    const { settings, version, foundation, consoleUrl, cluster } = this.#options
    const gatewayUrl = () => this.gatewayUrl
    return {
      version,
      startedAt: this.#startedAt,
      get gatewayUrl() {
        return gatewayUrl()
      },
      get consoleUrl() {
        return consoleUrl()
      },
      ...{ dataDirectory: settings.dataDirectory, settingsFile: settings.file },
      publish: () => this.#publish(),
      closeStreams: (keyId) => this.#workers.closeStreams(keyId),
      markReady: (providerId) => this.#markReady(providerId),
      snapshot: () => ({ configuration: this.#publisher.configuration, keys: this.#publisher.keys }),
      ingest: () => ingestSoon(foundation.store, () => this.#degraded.list()),
      check: (kind, target, credential) => this.#keeper.check(kind, target, credential),
      records: (signal, allStates) => followRecords(cluster?.feed ?? foundation.store, signal, allStates),
      changes: () => this.#changes,
      onChange: (listener) => foundation.store.onChange(listener),
      tryRoute: async (call) =>
        (await import('./calls/try-route.ts')).tryRoute(this.#publisher, this.#ownAddress(), call),
      send: (call, signal) => this.#send(call, signal),
      ...routingView(this.#shared),
      ...inspections,
      limitUsage: (...asked) => limitUsage(this.#shared.limits, this.#publisher.configuration.timeZone, ...asked),
      prices: () => this.#publisher.prices,
      targets: (slot) => this.#targets(slot),
      shownSince: (providerId, state) => this.#stateHistory.since(providerId, state),
      bodiesKeptMs: () => keepsOf(this.#settings).keepBodiesMs,
      degraded: () => this.#degraded.list(),
      status: () => ({
        workers: this.#workers.size,
        inFlight: this.#shared.counters.read(requestsInFlight),
        heldBytes: this.#shared.counters.read(heldBytes),
        heldLimit: toGatewaySettings(this.#settings, this.#options.port).heldLimit,
        requestsSinceStart: this.#shared.counters.read(requestsServed),
        traffic: this.#traffic.read(),
        degraded: this.#degraded.list(),
        degradedTimes: this.#degraded.entered(),
        store: this.#storeWatch.health,
        entriesLost: this.#lost(),
        longTurns: this.#turns.list(),
        traces: this.#traces.state(),
      }),
      departure: departureOf(this.#workers, this.#shared.counters, () => this.#settings.gateway.drainMs),
      backup: (options) => this.#backups.take(options),
      cluster,
    }
  }

  async *#send(call: SentCall, signal: AbortSignal): AsyncGenerator<SentPiece> {
    const { sendCall } = await import('./calls/send-call.ts')
    yield* sendCall(this.#publisher, this.#ownAddress(), call, signal)
  }

  get #scheme(): string {
    return this.#certificate === null ? 'http' : 'https'
  }

  #ownAddress(): OwnAddress {
    const origin = `${this.#scheme}://${loopbackOf(this.#settings.gateway.host)}:${this.#options.port}`
    return { origin, certificate: this.#certificate?.cert ?? null }
  }

  /** A degraded store does not keep the process from ending: the journal keeps what is not stored yet. */
  async #storeRest(): Promise<void> {
    const { foundation, log } = this.#options
    const reason = await foundation.store.ingest().then(() => null, errorText)
    if (reason !== null) log.warn('records wait in the journal until the next start', { reason })
    if (this.#lost() > 0) log.error('the journal could not be written', { entries_lost: this.#lost() })
  }

  /** A change may have been committed just before the store thread crashed, without an answer: publishes what the store holds. */
  #publishAnew(): void {
    this.#publish().catch((error: unknown) =>
      this.#options.log.error('the configuration was not published', { reason: String(error) }),
    )
  }

  /** Resolves when every thread has what the store holds now, and new budgets count what was spent before. */
  async #publish(): Promise<void> {
    await this.#publisher.publish()
    const { configuration, keys } = this.#publisher
    await this.#budgets.follow({ configuration, keys })
  }

  #lost(): number {
    return [...this.#entriesLost.values()].reduce((sum, lost) => sum + lost, 0)
  }

  #hear(event: TrafficEvent, thread: number): void {
    const { log } = this.#options
    switch (event.type) {
      case 'fault':
        return log.error('a request failed with an internal error', { request: event.requestId, reason: event.reason })
      case 'long-turn':
        return this.#turns.report(`data plane ${thread}`, event.turn)
      case 'degraded':
        this.#entriesLost.set(thread, event.lost)
        return this.#degraded.report('journal', String(thread), event.reason)
      case 'allowance-wanted':
      case 'limit-wanted':
        return this.#options.onWant(event)
      case 'target-watched':
        return this.#watch(event.slot, event.model)
      default:
        this.#keeper
          .onTraffic(event)
          .catch((error: unknown) => log.error('readiness was not recorded', { reason: String(error) }))
    }
  }

  #markReady(providerId: string): void {
    const provider = this.#findProvider(providerId)
    if (provider !== undefined) this.#shared.health.markReady(provider.slot)
  }

  #pause(providerId: string): void {
    const provider = this.#findProvider(providerId)
    if (provider !== undefined) this.#shared.health.open(provider.slot, Date.now(), failureCause.check)
  }

  #coolDown(providerId: string, index: number, until: number): boolean {
    const provider = this.#findProvider(providerId)
    if (provider === undefined) return false
    const { health } = this.#shared
    health.coolDownCredential(provider.slot, index, until)
    return health.view(provider.slot, Date.now(), provider.credentials.length).state === 'cooling-down'
  }

  #findProvider(providerId: string): SnapshotProvider | undefined {
    return this.#publisher.configuration.providers.find(({ id }) => id === providerId)
  }

  #targets(slot: number): ReturnType<Runtime['targets']> {
    const view = (model: string) => this.#shared.health.viewTarget({ slot, model, pattern: null }, Date.now())
    return [...(this.#watched.get(slot) ?? [])].map((model) => ({ model, health: view(model) }))
  }

  #watch(slot: number, model: string): void {
    const known = this.#watched.get(slot)
    if (known === undefined) this.#watched.set(slot, new Set([model]))
    else known.add(model)
  }
}
