import { compileFunction } from 'node:vm'
import type { PatternEngine } from '../../policy/content/seeker.ts'
import type { ConfigurationSnapshot } from '../../store/configuration/snapshot.ts'

/** Set by the bundler. The engine is then a script of its own, since a thread's script only contains what every thread needs. */
declare const __BUNDLED__: boolean | undefined

/** Whether content rules of any policy use patterns. */
export function needsPatterns({ policies }: ConfigurationSnapshot): boolean {
  return policies.some(
    ({ denyPatterns = [], contentRules = [] }) =>
      denyPatterns.length > 0 || contentRules.some(({ pattern }) => pattern !== null),
  )
}

/** Loads the engine for patterns from its script, before this function returns. Only sources import it asynchronously. */
export function loadPatternEngine(script: string | null): Promise<PatternEngine> {
  if (typeof __BUNDLED__ === 'undefined' || !__BUNDLED__) return import('../../policy/content/pattern-seeker.ts')
  if (script === null) throw new Error('the engine for patterns of content rules did not come with the snapshot')
  const module: { exports: PatternEngine | null } = { exports: null }
  compileFunction(script, ['module'], { filename: 'pattern-engine.js' })(module)
  if (module.exports === null) throw new Error('the script of the engine for patterns holds none')
  return Promise.resolve(module.exports)
}
