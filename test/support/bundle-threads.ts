import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { buildOptions, threadOptions, threads } from '../../scripts/bundle-options.ts'

const directory = join(import.meta.dirname, '../../.build/test-threads')

/**
 * Threads that unit tests start by the hundred, from the scripts that are released, with fault points: that takes a third of
 * what their sources take.
 */
export default async function bundleThreads(): Promise<void> {
  await mkdir(directory, { recursive: true })
  await build({
    ...threadOptions(buildOptions(directory, true, '')),
    entryPoints: {
      'gateway-thread': threads['gateway-thread'],
      'store-thread': threads['store-thread'],
      'pattern-engine': threads['pattern-engine'],
    },
    // Finds its addon beside itself.
    external: ['better-sqlite3'],
  })
  // Scripts, below a package of ES modules.
  await writeFile(join(directory, 'package.json'), '{}\n')
}
