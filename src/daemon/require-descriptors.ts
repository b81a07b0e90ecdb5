import { readDescriptorLimit } from '../gateway/thread/descriptors.ts'

/** At rest a gateway holds about 42 and keeps 32 for operators and answers: with fewer it would refuse every request. */
const fewest = 96

/**
 * Throws, with a hint, where the process may open so few files that the gateway could only refuse. Node has raised the soft limit to
 * the hard one by now.
 */
export function requireDescriptors(limit = readDescriptorLimit()): void {
  if (limit === null || limit >= fewest) return
  const hint = `Allow at least ${fewest}, better 65536: ulimit -n, or LimitNOFILE= of the systemd unit.`
  throw Object.assign(new Error(`the process may open ${limit} files, too few to serve requests`), { hint })
}
