import type { Settings } from '../config/settings.ts'
import { readDescriptorLimit } from '../gateway/thread/descriptors.ts'
import { countWorkers } from './health/memory.ts'

/**
 * With fewer a gateway would refuse every request: at rest it holds 35 and 7 for each data-plane thread, a node of a cluster 16 more
 * for PostgreSQL and Valkey; it keeps 32 for operators and answers, and serves little with the rest.
 */
export function fewestDescriptors({
  gateway,
  cluster,
}: {
  gateway: Pick<Settings['gateway'], 'workers'>
  cluster: object | null
}): number {
  return 89 + 7 * countWorkers(gateway.workers) + (cluster ? 16 : 0)
}

/**
 * Throws, with a hint, where the process may open so few files that the gateway could only refuse. Node has raised the soft limit to
 * the hard one by now.
 */
export function requireDescriptors(settings: Settings, limit = readDescriptorLimit()): void {
  const fewest = fewestDescriptors(settings)
  if ((limit ?? fewest) >= fewest) return
  throw Object.assign(new Error(`the process may open ${limit} files, too few to serve requests`), {
    hint: `Allow at least ${fewest}, better 65536: ulimit -n, or LimitNOFILE= of the systemd unit.`,
  })
}
