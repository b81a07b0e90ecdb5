import { packageExecutable } from '../../scripts/package.ts'
import { releasedBundle } from './bundles.ts'

/** The end-to-end tests run the very file that is handed out; it is made anew only when something in it has changed. */
export default async function packageOnce(): Promise<void> {
  // vitest prints nothing before all of this is done.
  const started = performance.now()
  const seconds = () => ((performance.now() - started) / 1000).toFixed(0)
  const report = (step: string): void => void process.stderr.write(`[${seconds()} s] ${step}\n`)
  report('Bundling the gateway, its threads and the console …')
  const { directory } = await releasedBundle()
  await packageExecutable(undefined, { bundled: directory }, report)
}
