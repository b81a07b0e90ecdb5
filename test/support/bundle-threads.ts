import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../..')

/** Threads that unit tests start by the hundred: from one script each, that takes half of what their sources take. */
export default async function bundleThreads(): Promise<void> {
  await build({
    entryPoints: {
      'gateway-thread': join(root, 'src/gateway/thread/thread.ts'),
      'store-thread': join(root, 'src/store/thread.ts'),
    },
    outdir: join(root, '.build/test-threads'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'cjs',
    // Finds its addon beside itself.
    external: ['better-sqlite3'],
    define: { 'import.meta.dirname': '__dirname' },
    logLevel: 'warning',
  })
}
