import { compileFunction } from 'node:vm'
import type { PatternEngine } from '../../policy/content/seeker.ts'
import type { ConfigurationSnapshot } from '../../store/configuration/snapshot.ts'

/** Set by the bundler: the engine is then a script of its own, since a thread's script holds only what every thread needs. */
declare const __BUNDLED__: boolean | undefined

/** Whether content rules of some policy look for patterns. */
export function needsPatterns({ policies }: ConfigurationSnapshot): boolean {
  return policies.some(
    ({ denyPatterns = [], contentRules = [] }) =>
      denyPatterns.length > 0 || contentRules.some(({ pattern }) => pattern !== null),
  )
}

/** The engine for patterns, from the text of its script. It is there when this returns; only the sources import it. */
export function loadPatternEngine(script: string | null): Promise<PatternEngine> {
  if (typeof __BUNDLED__ === 'undefined' || !__BUNDLED__) return import('../../policy/content/pattern-seeker.ts')
  if (script === null) throw new Error('the engine for patterns of content rules did not come with the snapshot')
  const module: { exports: PatternEngine | null } = { exports: null }
  compileFunction(script, ['module'], { filename: 'pattern-engine.js' })(module)
  if (module.exports === null) throw new Error('the script of the engine for patterns holds none')
  return Promise.resolve(module.exports)
}
