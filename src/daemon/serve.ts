import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Runtime } from '../admin/handlers/context.ts'
import { type AdminServer, startAdminServer } from '../admin/server.ts'
import type { Settings } from '../config/settings.ts'
import { noteSocketPath } from '../config/socket-path.ts'
import type { TrafficEvent } from '../gateway/gateway.ts'
import { requestsInFlight, requestsServed } from '../policy/counters.ts'
import { createHttpTransport } from '../providers/http.ts'
import { providerKinds } from '../providers/index.ts'
import { prepareDemo } from './demo.ts'
import { Fleet } from './fleet.ts'
import { type Foundation, layFoundation } from './foundation.ts'
import type { Log } from './log.ts'
import { attachShared, canSharePort, countWorkers, createSharedMemory } from './memory.ts'
import { Publisher } from './publisher.ts'
import { ReadinessKeeper } from './readiness.ts'
import { followRecords } from './record-feed.ts'
import { tryRoute } from './try-route.ts'

export interface ServeOptions {
  settings: Settings
  version: string
  credentialsDirectory: string | null
  demo: boolean
  log: Log
}

export interface Serving {
  gatewayUrl: string
  /** What this start made: first resources and keys, in words. */
  made: string[]
  /** The demo key, shown once. */
  demoKey: string | null
  /** Why the process can no longer serve; resolves only then. */
  failed: Promise<string>
  /** Drains and closes everything. */
  stop(): Promise<void>
}

const heartbeatMs = 15_000
const drainMs = 30_000

/** Brings the whole gateway up, in the order in which the parts stand on one another; what fails ends the rest. */
export async function startServing(options: ServeOptions): Promise<Serving> {
  const { settings, credentialsDirectory, version } = options
  mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 })
  // First of all: whoever holds the socket is the one gateway of its data directory.
  const { socket: socketPath, socketGroup } = settings.admin
  const admin = await startAdminServer({ socketPath, socketGroup, version })
  try {
    noteSocketPath(settings)
    // Thread numbers and sequences name the segments within a boot, so only the boot must never come twice.
    const boot = `${Date.now().toString(36)}${randomBytes(4).toString('hex')}`
    const foundation = await layFoundation({ settings, credentialsDirectory, boot })
    return await startPlanes(options, foundation, boot, admin)
  } catch (error) {
    await admin.close()
    throw error
  }
}

async function startPlanes(
  options: ServeOptions,
  foundation: Foundation,
  boot: string,
  admin: AdminServer,
): Promise<Serving> {
  const { settings, log, version } = options
  const { store, keyring } = foundation
  const demo = options.demo ? await prepareDemo(store) : null
  const port = await claimPort(settings.gateway.host, settings.gateway.port)
  const workers = countWorkers(settings.gateway.workers)
  const memory = createSharedMemory(workers)
  const { counters, health } = attachShared(memory)
  const transport = createHttpTransport()
  const degraded = new Map<string, string>()
  const fleet = new Fleet({
    workers,
    settings: { ...settings.gateway, port, reusePort: canSharePort(), heartbeatMs },
    journalDirectory: foundation.journalDirectory,
    boot,
    memory,
    whole: () => publisher.whole(),
    onTraffic: (event) => onTraffic(event),
    onDeath: (thread, reason) => log.error('a data-plane thread died and is replaced', { thread, reason }),
  })
  const publisher: Publisher = new Publisher(store, keyring, fleet)
  const markReady = (providerId: string) => {
    const slot = publisher.configuration.providers.find(({ id }) => id === providerId)?.slot
    if (slot !== undefined) health.markReady(slot)
  }
  const keeper = new ReadinessKeeper({ store, keyring, transport, log, publish: () => publisher.publish(), markReady })
  function onTraffic(event: TrafficEvent): void {
    if (event.type === 'fault')
      log.error('a request met a fault of the gateway', { request: event.requestId, reason: event.reason })
    else if (event.type === 'degraded')
      event.reason === null ? degraded.delete('journal') : degraded.set('journal', event.reason)
    else
      keeper.onTraffic(event).catch((error: unknown) => log.error('readiness not recorded', { reason: String(error) }))
  }
  const gatewayUrl = settings.gateway.url ?? `http://${hostOf(settings.gateway.host)}:${port}`
  const startedAt = new Date().toISOString()
  const runtime: Runtime = {
    version,
    startedAt,
    gatewayUrl,
    consoleUrl: null,
    dataDirectory: settings.dataDirectory,
    publish: () => publisher.publish(),
    snapshot: () => ({ configuration: publisher.configuration, keys: publisher.keys }),
    ingest: async () => void (await store.ingest()),
    check: (kind, target, credential) => keeper.check(kind, target, credential),
    records: (signal) => followRecords(store, signal),
    tryRoute: (call) => tryRoute(publisher, transport, `http://${loopbackOf(settings.gateway.host)}:${port}`, call),
    status: () => ({
      workers: fleet.size,
      inFlight: counters.read(requestsInFlight),
      requestsSinceStart: counters.read(requestsServed),
      degraded: [...degraded.values()],
    }),
    health: (slot, credentials) => health.view(slot, Date.now(), credentials),
    seal: () => keyring.describe(),
  }
  await publisher.publish()
  await fleet.start()
  await keeper.start()
  await fleet.listen()
  admin.open({
    store,
    keyring,
    kinds: providerKinds,
    runtime,
    onFault: (error, operation) => log.error('an operation met a fault', { operation, reason: describe(error) }),
  })
  const failed = new Promise<string>((resolve) => {
    foundation.storeWorker.once('error', (error) =>
      resolve(`the store thread died: ${error instanceof Error ? error.message : String(error)}`),
    )
  })
  const stop = async () => {
    keeper.stop()
    await fleet.drain(drainMs)
    await store.ingest()
    await admin.close()
    await transport.close()
    await store.close()
  }
  return { gatewayUrl, made: foundation.made, demoKey: demo?.key ?? null, failed, stop }
}

/** Binds the port alone first: `reusePort` would share it silently with whoever has it. Returns the port that was free. */
async function claimPort(host: string, port: number): Promise<number> {
  const probe = createServer()
  return new Promise((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => reject(new PortTaken(host, port, error)))
    probe.listen({ host, port, exclusive: true }, () => {
      const address = probe.address()
      const bound = address !== null && typeof address === 'object' ? address.port : port
      probe.close(() => resolve(bound))
    })
  })
}

export class PortTaken extends Error {
  readonly hint = 'Stop what listens there, or choose another address: spgw serve --listen HOST:PORT'

  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    super(`cannot listen on ${host}:${port}: ${cause.code === 'EADDRINUSE' ? 'it is in use' : cause.message}`, {
      cause,
    })
    this.name = 'PortTaken'
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

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
