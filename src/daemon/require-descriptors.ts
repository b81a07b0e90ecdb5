import type { Settings } from '../config/settings.ts'
import { readDescriptorLimit } from '../gateway/thread/descriptors.ts'
import { countWorkers } from './memory.ts'

/** At rest a gateway holds 35 besides its data-plane threads, keeps 32 for operators and answers, and serves little with the rest. */
const besidesThreads = 89
const ofThread = 7
/** A node's connections to PostgreSQL and Valkey, and their thread. */
const ofNode = 16

/** With fewer a gateway would refuse every request. */
export function fewestDescriptors({
  gateway,
  cluster,
}: {
  gateway: Pick<Settings['gateway'], 'workers'>
  cluster: object | null
}): number {
  return besidesThreads + ofThread * countWorkers(gateway.workers) + (cluster === null ? 0 : ofNode)
}

/**
 * Throws, with a hint, where the process may open so few files that the gateway could only refuse. Node has raised the soft limit to
 * the hard one by now.
 */
export function requireDescriptors(settings: Settings, limit = readDescriptorLimit()): void {
  const fewest = fewestDescriptors(settings)
  if (limit === null || limit >= fewest) return
  const hint = `Allow at least ${fewest}, better 65536: ulimit -n, or LimitNOFILE= of the systemd unit.`
  throw Object.assign(new Error(`the process may open ${limit} files, too few to serve requests`), { hint })
}
