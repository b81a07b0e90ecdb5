import type { Fault } from '../../core/errors.ts'
import { type Expected, needOf } from '../../policy/limits/expected-use.ts'
import type { Candidate } from '../../routing/plan.ts'
import type { Call } from '../request/call.ts'

/** The models that a provider may answer with in place of the one that is asked, by its names for them. Undefined: none, as nearly always. */
export function fallbackModels(
  { inspection: { additionalModels } }: Call,
  { additionalUpstreamModels }: Pick<Candidate, 'additionalUpstreamModels'>,
): readonly string[] | undefined {
  return additionalUpstreamModels?.filter((_, place) => additionalModels?.[place]?.mayAnswer === true)
}

/** Which of the names an answer's is: providers may add a date to it. */
export function nameAnswered(answered: string, names: readonly string[]): string | null {
  let found: string | null = null
  for (const name of names) if (answered.startsWith(name) && name.length > (found ?? '').length) found = name
  return found
}

/** Any of them may come: one that cannot be counted refuses the call. */
export function dearestOf(each: readonly (Expected | Fault)[]): Expected | Fault {
  return each.reduce((one, other) => ('code' in one || (!('code' in other) && !isDearer(other, one)) ? one : other))
}

function isDearer(one: Expected, other: Expected): boolean {
  const [its, others] = [needOf(one, one.output), needOf(other, other.output)]
  return its.usd === others.usd ? its.tokens > others.tokens : its.usd > others.usd
}
