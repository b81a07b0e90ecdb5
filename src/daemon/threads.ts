import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

/** Set by the bundler: the entries then lie beside the main bundle. */
declare const __BUNDLED__: boolean | undefined

const entries = {
  store: { source: '../store/thread.ts', bundle: './store-thread.js' },
  gateway: { source: '../gateway/thread.ts', bundle: './gateway-thread.js' },
} as const

/** Starts a thread of this process. Its standard streams are the process's own. */
export function startThread(name: keyof typeof entries, workerData: unknown): Worker {
  const bundled = typeof __BUNDLED__ !== 'undefined' && __BUNDLED__
  const entry = new URL(bundled ? entries[name].bundle : entries[name].source, import.meta.url)
  // A path, not the URL: the packaged executable redirects only paths to the files within it.
  return new Worker(fileURLToPath(entry), { workerData, name: `spgw-${name}` })
}
