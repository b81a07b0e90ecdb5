import { join } from 'node:path'
import { bundle } from '../../scripts/bundle.ts'

/**
 * The integration tests run one bundle with fault points, made anew for each run: a gateway starts from it in a third of the time
 * that it needs to read the sources.
 */
export default async function bundleOnce(): Promise<void> {
  const started = performance.now()
  process.stderr.write('Bundling the gateway for the integration tests …\n')
  await bundle(join(import.meta.dirname, '../../.build/test-bundle'), { forTests: true })
  process.stderr.write(`[${((performance.now() - started) / 1000).toFixed(0)} s] Bundled.\n`)
}
