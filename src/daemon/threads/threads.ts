import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Set by the bundler: the threads' scripts then lie beside the main bundle. */
declare const __BUNDLED__: boolean | undefined

/**
 * `heapMegabytes`: a thread that reaches it dies alone and is replaced, where without a limit it would take the machine's
 * memory first. Far above what they need: bodies are outside of it, and 100,000 keys take about 60 MB.
 * `youngMegabytes`: V8 would let what is short-lived fill 48 MB of each thread before it looks, at no gain in speed that
 * could be measured; three quarters of that stay with the process for good.
 */
const entries = {
  store: { source: '../../store/thread.ts', bundle: 'store-thread.js', heapMegabytes: 1024, youngMegabytes: 12 },
  backup: {
    source: '../../store/backup/backup-thread.ts',
    bundle: 'backup-thread.js',
    heapMegabytes: 512,
    youngMegabytes: 12,
  },
  // Only on a node of a cluster.
  cluster: { source: '../../cluster/thread.ts', bundle: 'cluster-thread.js', heapMegabytes: 512, youngMegabytes: 12 },
  manifest: {
    source: '../../manifest/thread.ts',
    bundle: 'manifest-thread.js',
    heapMegabytes: 256,
    youngMegabytes: 24,
  },
  gateway: {
    source: '../../gateway/thread/thread.ts',
    bundle: 'gateway-thread.js',
    heapMegabytes: 512,
    youngMegabytes: 24,
  },
} as const

/** Starts a thread of this process. Its standard streams are the process's own. */
export function startThread(name: keyof typeof entries, workerData: unknown): Worker {
  const { source, bundle, heapMegabytes, youngMegabytes } = entries[name]
  const resourceLimits = { maxOldGenerationSizeMb: heapMegabytes, maxYoungGenerationSizeMb: youngMegabytes }
  const options: WorkerOptions = { workerData, resourceLimits, name: `spgw-${name}` }
  if (typeof __BUNDLED__ === 'undefined' || !__BUNDLED__)
    return new Worker(fileURLToPath(new URL(source, import.meta.url)), options)
  const script = join(import.meta.dirname, bundle)
  if (!isSea()) return new Worker(script, options)
  // From its text: for a path within the executable pkg would first give the thread its file system, some megabytes of it.
  // Node would first compile such a text once more, to see whether it is an ES module.
  const execArgv = [...process.execArgv, '--input-type=commonjs']
  return new Worker(readFileSync(script, 'utf8'), { ...options, execArgv, eval: true })
}

/** The engine for patterns of content rules, as text, since a thread cannot read the executable's files; null from the sources. */
export function readPatternScript(): string | null {
  if (typeof __BUNDLED__ === 'undefined' || !__BUNDLED__) return null
  return readFileSync(join(import.meta.dirname, 'pattern-engine.js'), 'utf8')
}
