import { randomBytes } from 'node:crypto'
import { type AdminServer, startAdminServer } from '../admin/server.ts'
import type { Settings } from '../config/settings.ts'
import { noteSocketPath } from '../config/socket-path.ts'
import { type ConsoleDoor, startConsole } from '../console/door.ts'
import { claimPort } from '../gateway/server.ts'
import { providerKinds } from '../providers/index.ts'
import { readGatewayState } from './console-state.ts'
import { ControlPlane } from './control-plane.ts'
import { prepareDemo } from './demo.ts'
import { type Foundation, layFoundation } from './foundation.ts'
import type { Log } from './log.ts'
import { makeDirectory } from './make-directory.ts'

export interface ServeOptions {
  settings: Settings
  version: string
  /** systemd's `$CREDENTIALS_DIRECTORY`. */
  credentialsDirectory: string | null
  demo: boolean
  log: Log
}

export interface Serving {
  gatewayUrl: string
  consoleUrl: string
  /** What this start made because it was not there, in words. */
  made: string[]
  /** The demo key, shown once. */
  demoKey: string | null
  /** Why the process can no longer serve; resolves only then. */
  failed: Promise<string>
  /** Drains and closes everything. */
  stop(): Promise<void>
}

/** Brings the whole gateway up, in the order in which the parts stand on one another; what fails ends the rest. */
export async function startServing(options: ServeOptions): Promise<Serving> {
  const { settings, credentialsDirectory, version } = options
  makeDirectory(settings.dataDirectory)
  // First of all: whoever holds the socket is the one gateway of its data directory.
  const { socket: socketPath, socketGroup } = settings.admin
  const admin = await startAdminServer({ socketPath, socketGroup, version })
  try {
    noteSocketPath(settings)
    // Thread numbers and sequences name the segments within a boot, so only the boot must never come twice.
    const boot = `${Date.now().toString(36)}${randomBytes(4).toString('hex')}`
    const foundation = await layFoundation({ settings, credentialsDirectory, boot })
    try {
      return await startBehindConsole(options, foundation, boot, admin)
    } catch (error) {
      // Its thread would keep the process alive after the refusal.
      await foundation.store.close()
      throw error
    }
  } catch (error) {
    await admin.close()
    throw error
  }
}

/** Its address is taken before any traffic is: a gateway that cannot have it never serves at all. */
async function startBehindConsole(
  options: ServeOptions,
  foundation: Foundation,
  boot: string,
  admin: AdminServer,
): Promise<Serving> {
  const { settings, version, log } = options
  const onFault = (error: unknown) => log.error('the console met a fault', { reason: describe(error) })
  const door = await startConsole({ ...settings.console, version, onFault })
  try {
    return await startPlanes(options, foundation, boot, admin, door)
  } catch (error) {
    await door.close()
    throw error
  }
}

async function startPlanes(
  { settings, version, demo, log }: ServeOptions,
  foundation: Foundation,
  boot: string,
  admin: AdminServer,
  door: ConsoleDoor,
): Promise<Serving> {
  const { store, keyring, storeWorker, made } = foundation
  const prepared = demo ? await prepareDemo(store) : null
  const port = await claimPort(settings.gateway.host, settings.gateway.port)
  const control = new ControlPlane({ settings, version, foundation, boot, port, consoleUrl: door.url, log })
  try {
    await control.start()
  } catch (error) {
    await control.stop()
    throw error
  }
  const runtime = control.runtime()
  admin.open({
    store,
    keyring,
    kinds: providerKinds,
    runtime,
    onFault: (error, operation) => log.error('an operation met a fault', { operation, reason: describe(error) }),
  })
  store.onRecords((records) => door.count(records))
  let document: Promise<object> | undefined
  door.open({
    state: async () => readGatewayState(runtime),
    // Drawn up when it is first asked for: nobody should wait for it at the start.
    openApi: () => (document ??= drawUpDocument(version)),
  })
  const failed = new Promise<string>((resolve) => {
    storeWorker.once('error', (error) => resolve(`the store thread died: ${describe(error)}`))
  })
  const stop = async () => {
    await control.stop()
    await door.close()
    await admin.close()
    await store.close()
  }
  return { gatewayUrl: control.gatewayUrl, consoleUrl: door.url, made, demoKey: prepared?.key ?? null, failed, stop }
}

async function drawUpDocument(version: string): Promise<object> {
  const { openApiDocument } = await import('../admin/open-api.ts')
  return openApiDocument(version)
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
