import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { ClusterFace } from '../admin/handlers/context.ts'
import { Membership } from '../cluster/membership.ts'
import { ClusterNode, notYet } from '../cluster/node.ts'
import type { ClusterThreadData, PostgresAddress } from '../cluster/protocol.ts'
import type { ClusterSettings } from '../config/settings.ts'
import { SettingsRefused } from '../config/settings-refused.ts'
import type { AllowanceWant } from '../policy/limits/allowance.ts'
import type { LimitCounters } from '../policy/limits/limit-counters.ts'
import type { LimitMemory } from '../policy/limits/limit-memory.ts'
import { clusterFace } from './cluster-face.ts'
import type { Foundation } from './foundation.ts'
import type { Log } from './log.ts'
import { SharedBudgets } from './shared-budgets.ts'
import { startThread } from './threads.ts'

export interface ClusterPart {
  face: ClusterFace
  /** Who is told why this node is cut off; null: it is not. */
  report(onTrouble: (reason: string | null) => void): void
  /** From now on what comes from the cluster is published, and budgets are asked for. */
  start(started: StartedPlane): void
  /** A thread needs more of a budget that nodes share. */
  want(want: AllowanceWant): void
  stop(): Promise<void>
}

export interface StartedPlane {
  counters: LimitCounters
  memory: LimitMemory
  publish(): Promise<void>
}

export interface ClusterOptions {
  settings: ClusterSettings
  foundation: Foundation
  dataDirectory: string
  version: string
  demo: boolean
  log: Log
}

/** Loaded only where the settings name a cluster. */
export async function openCluster(options: ClusterOptions): Promise<ClusterPart> {
  const { settings, foundation, dataDirectory, version, log } = options
  const { store, keyring } = foundation
  if (options.demo)
    throw new SettingsRefused([
      { place: '--demo', message: 'a node of a cluster has no demo: remove cluster.postgres' },
    ])
  const name = settings.node ?? hostname()
  const address = toAddress(settings)
  let onTrouble: (reason: string | null) => void = () => {}
  let publish: () => Promise<void> = async () => {}
  let budgets: SharedBudgets | null = null
  const node = new ClusterNode({
    store,
    version,
    log,
    startThread: () => startThread('cluster', { address } satisfies ClusterThreadData),
    onTrouble(reason) {
      onTrouble(reason)
      budgets?.noteCut()
    },
    onMet: () => budgets?.met(),
    onRecall: (counter, period) => budgets?.recall(counter, period),
    publish: () => publish(),
  })
  await node.open()
  const releaseBudgets = async () => await budgets?.releaseBudgets()
  const membership = new Membership({
    node,
    store,
    keyring,
    name,
    dataDirectory,
    publish: () => publish(),
    releaseBudgets,
  })
  return {
    face: clusterFace({ settings, address, name, store, node, membership }),
    report(listener) {
      onTrouble = listener
      if (node.state !== null && node.trouble !== notYet) listener(node.trouble)
    },
    start({ counters, memory, publish: run }) {
      publish = run
      if (settings.sharesBudgets) budgets = new SharedBudgets({ node, counters, memory, log })
      budgets?.start()
      node.start()
    },
    want: (want) => budgets?.want(want),
    async stop() {
      budgets?.stop()
      membership.stop()
      await node.close()
    },
  }
}

/** To another machine never in clear text, and only to a server that proves who it is. */
export function toAddress({ host, port, user, database, password, authority }: ClusterSettings): PostgresAddress {
  const plain = host.startsWith('/') || /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)
  return {
    ...{ host, port, user, database, plain, password: password?.reveal() ?? null },
    authority: authority === null ? null : readAuthority(authority),
  }
}

function readAuthority(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new SettingsRefused([{ place: 'cluster.postgres_ca', message: `${path} cannot be read (${reason})` }])
  }
}
