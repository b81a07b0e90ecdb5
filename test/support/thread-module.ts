import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const sources = { 'gateway-thread': 'gateway/thread/thread.ts', 'store-thread': 'store/thread.ts' }

/** The bundled thread where `bundle-threads.ts` has made one for the run, else its source. */
export function threadModule(name: keyof typeof sources): URL {
  const bundles = process.env.SPGW_TEST_THREADS
  if (bundles) return pathToFileURL(join(bundles, `${name}.js`))
  return new URL(`../../src/${sources[name]}`, import.meta.url)
}

/** What a bundled thread needs of the main thread where policies have patterns; its source imports it. */
export function patternScript(): string | null {
  const bundles = process.env.SPGW_TEST_THREADS
  return bundles ? readFileSync(join(bundles, 'pattern-engine.js'), 'utf8') : null
}
