import { flatText } from '../../core/flat-text.ts'
import { namesOf } from '../../policy/prices/find-price.ts'
import { type Candidate, fallbacksOf } from '../../routing/candidates.ts'
import type { Call } from '../request/call.ts'
import type { Trace } from '../request/trace.ts'

/** The models that a provider may answer with in place of the one that is asked, by its names for them. Undefined: none, as nearly always. */
export function fallbackModels(
  { inspection: { additionalModels } }: Call,
  { additionalUpstreamModels }: Pick<Candidate, 'additionalUpstreamModels'>,
): readonly string[] | undefined {
  return fallbacksOf(additionalModels, additionalUpstreamModels)
}

/** Which of the names an answer's is: providers may add a date to it. */
function nameAnswered(answered: string, names: readonly string[]): string | null {
  let found: string | null = null
  for (const name of names) if (answered.startsWith(name) && name.length > (found ?? '').length) found = name
  return found
}

/** Where it is another than was asked, the record says so. Null: it is none of them, or the asked one. */
export function nameFallback(trace: Trace, asked: string, answered: string, names: readonly string[]): string | null {
  const used = nameAnswered(answered, names)
  if (used === null || used === asked) return null
  return noteFallback(trace, used)
}

/** The same, of a model that the provider has chosen. A date or a version more is no other model. */
export function nameChosen(trace: Trace, asked: string, answered: string): string | null {
  const names = namesOf(asked)
  const isAsked = namesOf(answered).some((name) => names.includes(name)) || answered.startsWith(latest(asked))
  return isAsked ? null : noteFallback(trace, answered.slice(0, nameLength))
}

const nameLength = 512
const latest = (asked: string) => (asked.endsWith('-latest') ? asked.slice(0, -'latest'.length) : `${asked}@`)

function noteFallback(trace: Trace, used: string): string {
  trace.noteOnce('model', flatText('The provider fell back to ', used, ', as the call lets it.'))
  return used
}
