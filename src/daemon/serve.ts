import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { type AdminServer, startAdminServer } from '../admin/server.ts'
import type { Settings } from '../config/settings.ts'
import { noteSocketPath } from '../config/socket-path.ts'
import { claimPort } from '../gateway/server.ts'
import { providerKinds } from '../providers/index.ts'
import { ControlPlane } from './control-plane.ts'
import { prepareDemo } from './demo.ts'
import { type Foundation, layFoundation } from './foundation.ts'
import type { Log } from './log.ts'

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
  mkdirSync(settings.dataDirectory, { recursive: true, mode: 0o700 })
  // First of all: whoever holds the socket is the one gateway of its data directory.
  const { socket: socketPath, socketGroup } = settings.admin
  const admin = await startAdminServer({ socketPath, socketGroup, version })
  try {
    noteSocketPath(settings)
    // Thread numbers and sequences name the segments within a boot, so only the boot must never come twice.
    const boot = `${Date.now().toString(36)}${randomBytes(4).toString('hex')}`
    const foundation = await layFoundation({ settings, credentialsDirectory, boot })
    try {
      return await startPlanes(options, foundation, boot, admin)
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

async function startPlanes(
  { settings, version, demo, log }: ServeOptions,
  foundation: Foundation,
  boot: string,
  admin: AdminServer,
): Promise<Serving> {
  const { store, keyring, storeWorker, made } = foundation
  const prepared = demo ? await prepareDemo(store) : null
  const port = await claimPort(settings.gateway.host, settings.gateway.port)
  const control = new ControlPlane({ settings, version, foundation, boot, port, log })
  try {
    await control.start()
  } catch (error) {
    await control.stop()
    throw error
  }
  admin.open({
    store,
    keyring,
    kinds: providerKinds,
    runtime: control.runtime(),
    onFault: (error, operation) => log.error('an operation met a fault', { operation, reason: describe(error) }),
  })
  const failed = new Promise<string>((resolve) => {
    storeWorker.once('error', (error) => resolve(`the store thread died: ${describe(error)}`))
  })
  const stop = async () => {
    await control.stop()
    await admin.close()
    await store.close()
  }
  return { gatewayUrl: control.gatewayUrl, made, demoKey: prepared?.key ?? null, failed, stop }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
