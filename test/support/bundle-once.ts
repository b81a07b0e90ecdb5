import { join } from 'node:path'
import { bundle } from '../../scripts/bundle.ts'

const directory = join(import.meta.dirname, '../../.build/test-bundle')
/** A bundle with fault points. A gateway starts from it in a third of the time that it needs to read the sources. */
export const testBundle = join(directory, 'main.js')

/** Made anew in each run, once for all projects that use it: each of them loads this file for itself. */
const making = Symbol.for('spgw.test-bundle')

export default async function bundleOnce(): Promise<void> {
  const made: unknown = Reflect.get(globalThis, making)
  if (made !== undefined) return void (await made)
  const started = performance.now()
  process.stderr.write('Bundling the gateway with fault points …\n')
  const bundled = bundle(directory, { forTests: true })
  Reflect.set(globalThis, making, bundled)
  await bundled
  process.stderr.write(`[${((performance.now() - started) / 1000).toFixed(0)} s] Bundled.\n`)
}
