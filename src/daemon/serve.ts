import { randomBytes } from 'node:crypto'
import { confirmReach } from '../admin/handlers/confirm-reach.ts'
import { lazyDispatcher } from '../admin/lazy-dispatcher.ts'
import { type AdminServer, startAdminServer } from '../admin/server.ts'
import type { Settings } from '../config/settings.ts'
import { noteSocketPath } from '../config/socket-path.ts'
import { type ConsoleListener, startConsole } from '../console/listener.ts'
import { errorStack } from '../core/caught.ts'
import type { Secret } from '../core/secrets/secret.ts'
import { claimPort } from '../gateway/thread/server-address.ts'
import type { ReadRequest } from '../manifest/thread-message.ts'
import { providerKinds } from '../providers/index.ts'
import { findFirstOperator, linkMinutes, mintLink } from '../sign-in/links.ts'
import type { StoreClient } from '../store/api.ts'
import { StoreDegraded, StoreRefused } from '../store/store-error.ts'
import { AlertWatch } from './alerts/alert-watch.ts'
import type { ClusterPart } from './cluster/cluster.ts'
import { readGatewayState } from './console-state.ts'
import { ControlPlane } from './control-plane.ts'
import { writeDemoCall } from './demo-call.ts'
import { type Foundation, keepsOf, layFoundation, makeRecoveryKey } from './foundation.ts'
import { announceCertificates, type Certificates, openForThreads, readCertificates } from './health/certificates.ts'
import type { Log } from './log.ts'
import { makeDirectory } from './make-directory.ts'
import { ManifestReader } from './manifest-reader.ts'
import { consoleSettings, Reloader } from './reload.ts'
import { requireDescriptors } from './require-descriptors.ts'

export interface ServeOptions {
  settings: Settings
  version: string
  /** systemd's `$CREDENTIALS_DIRECTORY`. */
  credentialsDirectory: string | null
  demo: boolean
  /** Whether the caller can show a recovery key, if this start makes one. */
  wantsRecoveryKey: boolean
  log: Log
  /** Writes a line to where the log goes, whatever its level and format. */
  writeLog(line: string): void
  /** Sets the level and format of the log from now on. */
  changeLog(settings: Settings): void
}

export interface Serving {
  gatewayUrl: string
  consoleUrl: string
  /** Descriptions of what this start created, because it was missing. */
  made: string[]
  /** With the demo key, which is shown only here. */
  demoCall: string | null
  /** A line with a link that opens the console for the first operator; null: somebody has signed in already. */
  signInLine: string | null
  /** Made by this start, to be shown once. */
  recoveryKey: Secret | null
  /** The data directory is new and has no recovery key: backups could not hold credentials. */
  needsRecoveryKey: boolean
  /** Why the process can no longer serve; resolves only then. */
  failed: Promise<string>
  /** Reads settings and certificates again. Never rejects. */
  reload(read: () => Promise<Settings>): Promise<void>
  /** Drains and closes everything. */
  stop(): Promise<void>
}

/** Starts the whole gateway, its parts in the order of their dependencies. If one fails, the others are stopped again. */
export async function startServing(options: ServeOptions): Promise<Serving> {
  const begun = new AsyncDisposableStack()
  try {
    return await startParts(options, begun)
  } catch (error) {
    await begun.disposeAsync()
    throw error
  }
}

async function startParts(options: ServeOptions, begun: AsyncDisposableStack): Promise<Serving> {
  const { settings, version, demo, wantsRecoveryKey, log, writeLog } = options
  requireDescriptors(settings)
  const certificates = readCertificates(settings)
  announceCertificates(certificates, log)
  // Segments are named by boot, thread and sequence. The latter two are unique within a boot, so the boot must never repeat.
  const boot = `${Date.now().toString(36)}${randomBytes(4).toString('hex')}`
  const { foundation, admin } = await takeDataDirectory(options, boot, begun)
  announceUpgrade(foundation, log)
  const cluster = await takeCluster(options, foundation, begun)
  const consoleListener = await takeConsole(options, certificates, begun)
  const prepared = demo ? await (await import('./demo.ts')).prepareDemo(foundation.store) : null
  const port = await claimPort(settings.gateway.host, settings.gateway.port)
  const certificate = certificates.gateway === null ? null : openForThreads(certificates.gateway)
  const consoleUrl = () => consoleListener.url
  const control = new ControlPlane({
    settings,
    certificate,
    version,
    foundation,
    boot,
    port,
    consoleUrl,
    log,
    writeLog,
    cluster: cluster?.face ?? null,
    onWant: (event) => (event.type === 'limit-wanted' ? cluster?.wantLimit(event.want) : cluster?.want(event.want)),
  })
  cluster?.report((part, reason) => control.reportCluster(part, reason))
  cluster?.reportValkey((reason) => control.reportCluster('valkey', reason))
  begun.defer(() => control.stop())
  const runtime = control.runtime()
  await control.start(() => cluster?.start({ counters: control.limits, memory: control.limitMemory, runtime }))
  const alerts = new AlertWatch({
    ...{ ...foundation, runtime },
    settings: () => control.settings,
    transport: () => control.transport.open(),
    claim: cluster?.claimReports ?? null,
    log,
  })
  alerts.start()
  begun.defer(async () => alerts.stop())
  openListeners(options, foundation, control, admin, consoleListener, alerts)
  const { changeLog } = options
  const reloader = new Reloader({ control, consoleListener, cluster, log, changeLog }, settings, certificates)
  // Last of all: if the start failed after this, the key would never be shown.
  const recoveryKey = foundation.fresh && wantsRecoveryKey ? await makeRecoveryKey(foundation) : null
  const leaf = certificates.gateway?.leaf ?? null
  return {
    gatewayUrl: control.gatewayUrl,
    consoleUrl: consoleListener.url,
    made: foundation.made,
    demoCall: prepared && writeDemoCall(settings.gateway, control.gatewayUrl, leaf, prepared.key),
    signInLine: await makeFirstLink(foundation.store, consoleListener.url),
    recoveryKey,
    needsRecoveryKey: foundation.fresh && recoveryKey === null,
    failed: hearOwnFault(),
    reload: (read) => reloader.reload(read),
    stop: () => begun.disposeAsync(),
  }
}

/**
 * First locks the data directory for this process, or fails. Then opens the admin socket, before the database is opened, which may take
 * long: commands find the gateway meanwhile, and wait.
 */
async function takeDataDirectory(options: ServeOptions, boot: string, begun: AsyncDisposableStack) {
  const { settings, credentialsDirectory, version, log } = options
  const opened: { foundation?: Foundation } = {}
  const admin = Promise.withResolvers<AdminServer>()
  // The store's thread would keep the process alive. It is closed last, since calls in progress need it.
  begun.defer(async () => opened.foundation?.store.close())
  makeDirectory(settings.dataDirectory)
  const { lookAfterDirectory } = await import('./health/look-after-directory.ts')
  begun.defer(lookAfterDirectory(settings.dataDirectory, log))
  const onLocked = async () => {
    const { socket: socketPath, socketGroup } = settings.admin
    const { dataDirectory } = settings
    const server = await startAdminServer({ socketPath, socketGroup, dataDirectory, version })
    begun.defer(() => server.close())
    noteSocketPath(settings)
    admin.resolve(server)
  }
  const foundation = await layFoundation({ settings, credentialsDirectory, boot, onLocked })
  opened.foundation = foundation
  return { foundation, admin: await admin.promise }
}

/** Before anything is written, since a node of a cluster writes nothing by itself. */
async function takeCluster(
  { settings, version, demo, log }: ServeOptions,
  foundation: Foundation,
  begun: AsyncDisposableStack,
): Promise<ClusterPart | null> {
  if (settings.cluster === null) {
    await refuseForgottenCluster(foundation)
    return null
  }
  const { openCluster } = await import('./cluster/cluster.ts')
  const cluster = await openCluster({
    settings: settings.cluster,
    foundation,
    keeps: keepsOf(settings),
    dataDirectory: settings.dataDirectory,
    version,
    demo,
    log,
  })
  begun.defer(() => cluster.stop())
  return cluster
}

/** Fails if the settings no longer name the cluster of this node: it would diverge from the others unnoticed. */
async function refuseForgottenCluster({ store }: Foundation): Promise<void> {
  if ((await store.replica({ act: 'state' })) === null) return
  throw new StoreRefused(
    'this data directory is a node of a cluster, and the settings name none',
    'Set cluster.postgres as before; to take the node out of the cluster, then: spgw cluster leave',
  )
}

/** Binds the console's address before any traffic is served: without it the gateway does not start. */
async function takeConsole(
  { settings, version, log }: ServeOptions,
  certificates: Certificates,
  begun: AsyncDisposableStack,
): Promise<ConsoleListener> {
  const { host, port } = settings.console
  const onFault = (error: unknown) => {
    // Checked by name: its module is loaded with the first sign-in of that kind.
    if (error instanceof Error && error.name === 'IdentityProviderFault')
      log.warn('the identity provider gave no valid answer', { reason: error.message })
    else log.error('the console had an internal error', { reason: errorStack(error) })
  }
  const consoleListener = await startConsole({
    ...consoleSettings(settings, certificates),
    host,
    port,
    version,
    onFault,
  })
  begun.defer(() => consoleListener.close())
  return consoleListener
}

function openListeners(
  { version, log }: ServeOptions,
  { store, keyring }: Foundation,
  control: ControlPlane,
  admin: AdminServer,
  consoleListener: ConsoleListener,
  alerts: AlertWatch,
): void {
  const runtime = control.runtime()
  const manifests = new ManifestReader()
  const parts = {
    store,
    keyring,
    kinds: providerKinds,
    runtime,
    readManifest: (request: ReadRequest) => manifests.read(request),
    onFault: (error: unknown, operation: string) =>
      log.error('an operation failed with an internal error', { operation, reason: errorStack(error) }),
    sendAlerts: () => alerts.sendDue(),
    onWrite: () => consoleListener.recheck(),
  }
  const dispatcher = lazyDispatcher(parts)
  admin.open(parts, dispatcher)
  admin.nameListener(control.listener)
  store.onTraffic((tally) => consoleListener.count(tally))
  let document: Promise<object> | undefined
  consoleListener.open({
    state: async () => readGatewayState(runtime, alerts.counts),
    // Made when it is first asked for, to keep the start short.
    openApi: () => (document ??= drawUpDocument(version)),
    signIn: {
      store,
      keyring,
      async askProvider(url, question) {
        const { askIdentityProvider } = await import('./calls/ask-identity-provider.ts')
        return await askIdentityProvider(await control.transport.open(), url, question)
      },
    },
    dispatcher,
    confirmReach: (revokedId) => confirmReach(parts, revokedId),
  })
}

/** If the store cannot be written, there is no link, and the gateway serves all the same. */
async function makeFirstLink(store: StoreClient, consoleUrl: string): Promise<string | null> {
  try {
    const operator = await findFirstOperator(store)
    if (operator === undefined) return null
    const { path } = await mintLink(store, operator?.id ?? null)
    return `Sign in: ${consoleUrl}${path}  (valid ${linkMinutes} minutes, once)\n`
  } catch (error) {
    if (error instanceof StoreDegraded) return null
    throw error
  }
}

function announceUpgrade({ store }: Foundation, log: Log): void {
  if (store.upgrade !== null)
    log.info('the database was upgraded; a copy from before the upgrade is kept', { ...store.upgrade })
}

async function drawUpDocument(version: string): Promise<object> {
  const { openApiDocument } = await import('../admin/open-api.ts')
  return openApiDocument(version)
}

/**
 * Resolves at the first fault of the main thread that nobody caught; what follows from it is not heard. Until somebody
 * waits for it, such a fault ends the process on the spot, as Node does by itself.
 */
function hearOwnFault(): Promise<string> {
  return new Promise((resolve) => {
    process.on('uncaughtException', (error: unknown) => resolve(errorStack(error)))
  })
}
