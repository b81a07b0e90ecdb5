import type { Pattern } from '../core/pattern.ts'
import type { Candidate, Skipped, TargetQuery } from './candidates.ts'
import { upstreamName } from './candidates.ts'
import type { CompiledTarget } from './compile.ts'

/**
 * Vectors of two models cannot be compared, so that a client's index would be spoilt in silence: where a target of a call for vectors is
 * translated, only those with the model of the route's first target are asked, in health and in sickness. Within one lane a model may
 * have several names (deployments), and the route decides.
 */
export function keepVectorSpace(
  { model, lane, kinds }: TargetQuery & { model: string | null },
  evaluated: { candidates: Candidate[]; skipped: Skipped[] },
  { pattern, targets }: { pattern: Pattern; targets: readonly CompiledTarget[] },
): void {
  const first = targets.find(({ target }) => target.weight > 0)
  if (first === undefined) return
  const wanted = upstreamName(pattern, first.upstream, model ?? '')
  const isForeign = kinds.get(first.provider?.kind ?? '')?.lanes.includes(lane) !== true
  evaluated.candidates = evaluated.candidates.filter(({ provider, upstreamModel, translated }) => {
    if (baseName(upstreamModel) === baseName(wanted) || (!isForeign && translated === null)) return true
    const reason = `its vectors cannot be compared with those of ${wanted}`
    const lanes = kinds.get(provider.kind)?.lanes ?? []
    evaluated.skipped.push({ provider: provider.name, upstreamModel, reason, code: 'format', until: null, lanes })
    return false
  })
}

/** Without the vendor that some providers put before it (`google/gemini-embedding-001`). */
function baseName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1)
}
