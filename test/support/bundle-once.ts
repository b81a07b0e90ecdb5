import { join } from 'node:path'
import { bundleForTests } from './bundles.ts'

/** A bundle with fault points. A gateway starts from it in a third of the time that it needs to read the sources. */
export const testBundle = join(import.meta.dirname, '../../.build/bundles/tests/main.js')

export default async function bundleOnce(): Promise<void> {
  const started = performance.now()
  await bundleForTests()
  const seconds = (performance.now() - started) / 1000
  if (seconds > 1) process.stderr.write(`[${seconds.toFixed(0)} s] Bundled the gateway with fault points.\n`)
}
