import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Set by the bundler: the threads' scripts then lie beside the main bundle. */
declare const __BUNDLED__: boolean | undefined

const entries = {
  store: { source: '../store/thread.ts', bundle: 'store-thread.cjs' },
  backup: { source: '../store/backup-thread.ts', bundle: 'backup-thread.cjs' },
  gateway: { source: '../gateway/thread.ts', bundle: 'gateway-thread.cjs' },
} as const

/** Starts a thread of this process. Its standard streams are the process's own. */
export function startThread(name: keyof typeof entries, workerData: unknown): Worker {
  const options: WorkerOptions = { workerData, name: `spgw-${name}` }
  const { source, bundle } = entries[name]
  if (typeof __BUNDLED__ === 'undefined' || !__BUNDLED__)
    return new Worker(fileURLToPath(new URL(source, import.meta.url)), options)
  const script = join(import.meta.dirname, bundle)
  // From its text: for a path within the executable pkg would first give the thread its file system, some megabytes of it.
  return isSea() ? new Worker(readFileSync(script, 'utf8'), { ...options, eval: true }) : new Worker(script, options)
}
