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
 */
const entries = {
  store: { source: '../store/thread.ts', bundle: 'store-thread.js', heapMegabytes: 1024 },
  backup: { source: '../store/backup-thread.ts', bundle: 'backup-thread.js', heapMegabytes: 512 },
  gateway: { source: '../gateway/thread.ts', bundle: 'gateway-thread.js', heapMegabytes: 512 },
} as const

/** Starts a thread of this process. Its standard streams are the process's own. */
export function startThread(name: keyof typeof entries, workerData: unknown): Worker {
  const { source, bundle, heapMegabytes } = entries[name]
  const resourceLimits = { maxOldGenerationSizeMb: heapMegabytes }
  const options: WorkerOptions = { workerData, resourceLimits, name: `spgw-${name}` }
  if (typeof __BUNDLED__ === 'undefined' || !__BUNDLED__)
    return new Worker(fileURLToPath(new URL(source, import.meta.url)), options)
  const script = join(import.meta.dirname, bundle)
  // From its text: for a path within the executable pkg would first give the thread its file system, some megabytes of it.
  return isSea() ? new Worker(readFileSync(script, 'utf8'), { ...options, eval: true }) : new Worker(script, options)
}
