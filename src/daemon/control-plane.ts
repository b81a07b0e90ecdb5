import type { Runtime } from '../admin/handlers/context.ts'
import type { Settings } from '../config/settings.ts'
import type { TrafficEvent } from '../gateway/gateway.ts'
import { requestsInFlight, requestsServed } from '../policy/counters.ts'
import { createHttpTransport } from '../providers/http.ts'
import { Fleet } from './fleet.ts'
import type { Foundation } from './foundation.ts'
import type { Log } from './log.ts'
import { attachShared, canSharePort, countWorkers, createSharedMemory } from './memory.ts'
import { Publisher } from './publisher.ts'
import { ReadinessKeeper } from './readiness.ts'
import { followRecords } from './record-feed.ts'
import { tryRoute } from './try-route.ts'

const heartbeatMs = 15_000
const drainMs = 30_000

export interface ControlPlaneOptions {
  settings: Settings
  version: string
  foundation: Foundation
  boot: string
  /** Of the gateway, bound for sure a moment ago. */
  port: number
  consoleUrl: string
  log: Log
}

/** The main thread's side: publishes what the store holds to the data plane, and hears what traffic found. */
export class ControlPlane {
  readonly gatewayUrl: string
  readonly #options: ControlPlaneOptions
  readonly #transport = createHttpTransport()
  readonly #shared: ReturnType<typeof attachShared>
  readonly #fleet: Fleet
  readonly #publisher: Publisher
  readonly #keeper: ReadinessKeeper
  /** By the part that is degraded. */
  readonly #degraded = new Map<string, string>()
  readonly #startedAt = new Date().toISOString()

  constructor(options: ControlPlaneOptions) {
    const { settings, foundation, boot, port, log } = options
    const { store, keyring, journalDirectory } = foundation
    this.#options = options
    this.gatewayUrl = settings.gateway.url ?? `http://${hostOf(settings.gateway.host)}:${port}`
    const workers = countWorkers(settings.gateway.workers)
    const memory = createSharedMemory(workers)
    this.#shared = attachShared(memory)
    this.#fleet = new Fleet({
      workers,
      settings: { ...settings.gateway, port, reusePort: canSharePort(), heartbeatMs },
      journalDirectory,
      boot,
      memory,
      whole: () => this.#publisher.whole(),
      onTraffic: (event) => this.#hear(event),
      onDeath: (thread, reason) => log.error('a data-plane thread died and is replaced', { thread, reason }),
    })
    this.#publisher = new Publisher(store, keyring, this.#fleet)
    this.#keeper = new ReadinessKeeper({
      store,
      keyring,
      transport: this.#transport,
      log,
      publish: () => this.#publisher.publish(),
      markReady: (providerId) => this.#markReady(providerId),
    })
  }

  /** Every data-plane thread has the snapshot and accepts connections when this resolves. */
  async start(): Promise<void> {
    await this.#publisher.publish()
    await this.#fleet.start()
    await this.#keeper.start()
    await this.#fleet.listen()
  }

  /** Open requests end, within the limit; their records are in the store when this resolves. */
  async stop(): Promise<void> {
    this.#keeper.stop()
    await this.#fleet.drain(drainMs)
    await this.#options.foundation.store.ingest()
    await this.#transport.close()
  }

  runtime(): Runtime {
    const { settings, version, foundation, port, consoleUrl } = this.#options
    const { store, keyring } = foundation
    const origin = `http://${loopbackOf(settings.gateway.host)}:${port}`
    return {
      version,
      startedAt: this.#startedAt,
      gatewayUrl: this.gatewayUrl,
      consoleUrl,
      dataDirectory: settings.dataDirectory,
      publish: () => this.#publisher.publish(),
      closeStreams: (keyId) => this.#fleet.closeStreams(keyId),
      markReady: (providerId) => this.#markReady(providerId),
      snapshot: () => ({ configuration: this.#publisher.configuration, keys: this.#publisher.keys }),
      ingest: async () => void (await store.ingest()),
      check: (kind, target, credential) => this.#keeper.check(kind, target, credential),
      records: (signal) => followRecords(store, signal),
      tryRoute: (call) => tryRoute(this.#publisher, this.#transport, origin, call),
      health: (slot, credentials) => this.#shared.health.view(slot, Date.now(), credentials),
      status: () => ({
        workers: this.#fleet.size,
        inFlight: this.#shared.counters.read(requestsInFlight),
        requestsSinceStart: this.#shared.counters.read(requestsServed),
        degraded: [...this.#degraded.values()],
      }),
      seal: () => keyring.describe(),
    }
  }

  #hear(event: TrafficEvent): void {
    const { log } = this.#options
    switch (event.type) {
      case 'fault':
        return log.error('a request met a fault of the gateway', { request: event.requestId, reason: event.reason })
      case 'degraded':
        if (event.reason === null) this.#degraded.delete('journal')
        else this.#degraded.set('journal', event.reason)
        return log.warn('the journal', { degraded: event.reason })
      default:
        this.#keeper
          .onTraffic(event)
          .catch((error: unknown) => log.error('readiness was not recorded', { reason: String(error) }))
    }
  }

  #markReady(providerId: string): void {
    const provider = this.#publisher.configuration.providers.find(({ id }) => id === providerId)
    if (provider !== undefined) this.#shared.health.markReady(provider.slot)
  }
}

function hostOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Where the gateway reaches itself when it listens on every address. */
function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '[::1]' : hostOf(host)
}
