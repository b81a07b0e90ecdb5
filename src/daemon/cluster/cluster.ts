import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import type { ClusterFace, Runtime } from '../../admin/handlers/context.ts'
import { takeFromReserve } from '../../admin/handlers/with-reserve.ts'
import { Membership } from '../../cluster/membership.ts'
import { ClusterNode, type NodeParts } from '../../cluster/node.ts'
import type { KeepTimes, LimitsStart, PostgresAddress, ValkeyAddress } from '../../cluster/protocol.ts'
import { notYet } from '../../cluster/troubles.ts'
import type { ClusterSettings, ValkeySettings } from '../../config/settings.ts'
import { SettingsRefused } from '../../config/settings-refused.ts'
import { errorCode } from '../../core/caught.ts'
import type { AllowanceWant } from '../../policy/limits/allowance.ts'
import type { LimitCounters, LimitWant } from '../../policy/limits/limit-counters.ts'
import type { LimitMemory } from '../../policy/limits/limit-memory.ts'
import type { StoreClient } from '../../store/api.ts'
import type { AlertReport } from '../alerts/changes.ts'
import { watchedBudgets } from '../budgets/watched-budgets.ts'
import type { Foundation } from '../foundation.ts'
import type { Log } from '../log.ts'
import { startThread } from '../threads/threads.ts'
import { claimReports } from './alerts.ts'
import { clusterFace } from './face.ts'
import { isQuiet } from './is-quiet.ts'
import { SharedBudgets } from './shared-budgets.ts'
import { SharedLimits } from './shared-limits.ts'
import { SharedRecords } from './shared-records.ts'
import { ClusterTroubles, type ReportCluster } from './troubles.ts'
import { UnjoinedReach } from './unjoined-reach.ts'

/** As often as PostgreSQL hears of a node. */
const describeMs = 2000
/** So long a start waits for limits at the most. */
const grantingMs = 2000

export interface ClusterPart {
  face: ClusterFace
  /** Who is told why this node is cut off; null: it is not. */
  report(onTrouble: ReportCluster): void
  /** Who is told why limits that nodes share cannot be granted; null: they can. */
  reportValkey(onTrouble: (reason: string | null) => void): void
  /**
   * From now on what comes from the cluster is published, and budgets and limits are asked for. Resolves when both can be
   * given out here, or cannot for now.
   */
  start(started: StartedPlane): Promise<void>
  /** A thread needs more of a budget that nodes share. */
  want(want: AllowanceWant): void
  /** The same of a limit. */
  wantLimit(want: LimitWant): void
  /** How long records, and captured bodies, are kept from now on. */
  keep(keeps: KeepTimes): void
  /** Those of an alert's reports that this node is to send. */
  claimReports(alertId: string, reports: readonly AlertReport[]): Promise<readonly AlertReport[]>
  stop(): Promise<void>
}

export interface StartedPlane {
  counters: LimitCounters
  memory: LimitMemory
  runtime: Pick<Runtime, 'publish' | 'snapshot' | 'status' | 'departure'>
}

export interface ClusterOptions {
  settings: ClusterSettings
  foundation: Foundation
  /** How long records, and captured bodies, are kept, in milliseconds. */
  keeps: KeepTimes
  dataDirectory: string
  version: string
  demo: boolean
  log: Log
}

/** Every few seconds, at the start (the run before may have been out of service), and when the others are to know at once. */
class Announcing {
  #timer: NodeJS.Timeout | undefined
  announce = () => {}

  start(announce: () => void): void {
    this.announce = announce
    announce()
    this.#timer = setInterval(announce, describeMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Loaded only where the settings name a cluster. */
export async function openCluster(options: ClusterOptions): Promise<ClusterPart> {
  const { settings, dataDirectory, version, log, foundation, demo } = options
  const { store, keyring } = foundation
  if (demo) refuseDemo()
  const name = settings.node ?? hostname()
  const address = toAddress(settings)
  let plane: StartedPlane['runtime'] | null = null
  let budgets: SharedBudgets | null = null
  const announcing = new Announcing()
  const limits = openLimits(settings, (start) => node.link.shareLimits(start))
  const records = settings.records === 'shared' ? new SharedRecords({ node: name, ...options.keeps }, store) : null
  const hasKeys = () => plane === null || plane.snapshot().keys.length > 0
  const troubles = new ClusterTroubles(settings, records, { node: () => node, hasKeys })
  const publish = () => (plane?.publish() ?? Promise.resolve()).then(() => troubles.look())
  const reach = new UnjoinedReach(log)
  const node = new ClusterNode({
    ...{ store, keyring, name, version, log, publish, ...keepsRoom(dataDirectory) },
    startThread: () => startThread('cluster', { address, ...(records && { records: records.place }) }),
    onTrouble(reason) {
      reach.note(node.state === null ? node.trouble : null)
      troubles.notePostgres(reason)
      budgets?.noteCut()
    },
    onMet: () => budgets?.met(),
    onRecall: (counter, period) => budgets?.recall(counter, period),
    onValkey(reason) {
      limits.report(reason)
      troubles.noteValkey(reason)
    },
    onIdentity(member) {
      limits.setMember(member)
      records?.read(member === null ? null : node.link, troubles.reading)
    },
    onOutbox: (report) => troubles.hear(report),
    onEnded: (ended) => records?.hearEnded(ended),
    onThread: () => records?.connect(node.link),
  })
  records?.start(node.link)
  await node.open()
  const membership = new Membership({
    ...{ node, store, keyring, name, dataDirectory, publish },
    releaseBudgets: async () => await budgets?.releaseBudgets(),
    takeSpent: (spent) => budgets?.takeSpent(spent),
  })
  return {
    face: clusterFace({ settings, name, store, node, membership, limits, records, announcing, budgets: () => budgets }),
    reportValkey: (listener) => limits.listen(listener),
    wantLimit: (want) => node.link.wantLimit(want),
    keep: (keeps) => records?.keep(keeps, node.link),
    report: (listener) => troubles.listen(listener, troubleOf(node)),
    async start({ counters, memory, runtime }) {
      plane = runtime
      // Before anybody is answered.
      troubles.look()
      const watched = () => watchedBudgets(runtime.snapshot())
      if (settings.sharesBudgets) budgets = new SharedBudgets({ node, counters, memory, watched, log, store })
      node.start()
      await Promise.all([startLimits({ node, store, log, limits, memory, cut: troubles.cut }), budgets?.start()])
      announcing.start(() => describeNode({ node, troubles, limits }, runtime))
    },
    want: (want) => budgets?.want(want),
    claimReports: (...asked) => claimReports({ node, name, settings }, ...asked),
    async stop() {
      announcing.stop()
      budgets?.stop()
      membership.stop()
      await node.close()
    },
  }
}

function keepsRoom(directory: string): Pick<NodeParts, 'withReserve'> {
  return { withReserve: (change) => takeFromReserve(directory, change) }
}

function troubleOf({ state, trouble }: ClusterNode): string | null {
  return state === null || trouble === notYet ? null : trouble
}

function openLimits({ valkey }: ClusterSettings, send: (start: LimitsStart) => void): SharedLimits {
  const address = valkey === null ? null : toValkeyAddress(valkey)
  return new SharedLimits({ address, without: valkey?.without ?? 'share', send })
}

interface DescribedNode {
  node: ClusterNode
  troubles: ClusterTroubles
  limits: SharedLimits
}

function describeNode({ node, troubles, limits }: DescribedNode, runtime: Pick<Runtime, 'status' | 'departure'>): void {
  troubles.look()
  limits.look()
  const status = runtime.status()
  const { inFlight, traffic } = status
  const degraded = status.degraded.map(({ part, reason, since }) => ({ part, reason, since }))
  const sharesLimits = limits.find() !== null
  node.link.describe({ inFlight, traffic, degraded, draining: runtime.departure.begun, sharesLimits })
}

function refuseDemo(): never {
  throw new SettingsRefused([{ place: '--demo', message: 'a node of a cluster has no demo: remove cluster.postgres' }])
}

interface LimitsParts {
  node: ClusterNode
  store: StoreClient
  log: Log
  limits: SharedLimits
  memory: LimitMemory
  /** Resolves where it is not heard who the other nodes are. */
  cut: Promise<void>
}

/**
 * Nothing is granted before it is known what earlier runs used lately. Resolves when something is, or cannot be: the first
 * request is not refused because it came before the first answer.
 */
export async function startLimits({ node, store, log, limits, memory, cut }: LimitsParts): Promise<void> {
  if (limits.find() === null) return
  const quiet = isQuiet(store).catch((error: unknown) => {
    log.warn('what was used of limits before the start is not known', { reason: String(error) })
    return false
  })
  const granting = async () => {
    limits.share(memory, await quiet)
    // A thread that dies meanwhile is started again, and nothing is waited for then.
    await node.link.ask('limits-granting', null).catch(() => {})
  }
  // Before the others are known nothing is granted: whoever waits for that serves nobody meanwhile, and gains nothing.
  await Promise.race([granting(), cut, wait(grantingMs, undefined, { ref: false })])
}

/** To another machine never in clear text, and only to a server that proves who it is. */
export function toAddress({ host, port, user, database, password, authority }: ClusterSettings): PostgresAddress {
  return {
    ...{ host, port, user, database, plain: isOwnMachine(host), password: password?.reveal() ?? null },
    authority: authority === null ? null : readAuthority(authority, 'postgres_ca'),
  }
}

export function toValkeyAddress({ host, port, user, database, password, authority }: ValkeySettings): ValkeyAddress {
  return {
    ...{ host, port, user, database, plain: isOwnMachine(host), password: password?.reveal() ?? null },
    authority: authority === null ? null : readAuthority(authority, 'valkey_ca'),
  }
}

function isOwnMachine(host: string): boolean {
  return host.startsWith('/') || /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)
}

function readAuthority(path: string, setting: string): string {
  const refuse = (what: string) => new SettingsRefused([{ place: `cluster.${setting}`, message: `${path} ${what}` }])
  let authority: string
  try {
    authority = readFileSync(path, 'utf8')
  } catch (error) {
    throw refuse(`cannot be read (${errorCode(error) ?? String(error)})`)
  }
  // OpenSSL passes over what is none, and then trusts nobody.
  if (!authority.includes('-----BEGIN CERTIFICATE-----')) throw refuse('has no certificate in PEM')
  return authority
}
