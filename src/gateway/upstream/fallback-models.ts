import { flatText } from '../../core/text/flat-text.ts'
import { namesOf } from '../../policy/prices/find-price.ts'
import { type Candidate, fallbacksOf } from '../../routing/candidates.ts'
import type { Call } from '../request/call.ts'
import type { Trace } from '../request/trace.ts'

/** The models that a provider may answer with instead of the requested one, by its own names. Undefined: none, as for nearly every call. */
export function fallbackModels(
  { inspection: { additionalModels } }: Call,
  { additionalUpstreamModels }: Pick<Candidate, 'additionalUpstreamModels'>,
): readonly string[] | undefined {
  return fallbacksOf(additionalModels, additionalUpstreamModels)
}

/** The name in the list that the answer's model matches: providers may append a date. */
function nameAnswered(answered: string, names: readonly string[]): string | null {
  let found: string | null = null
  for (const name of names) if (answered.startsWith(name) && name.length > (found ?? '').length) found = name
  return found
}

/** Notes on the record that another model answered. Null: the name is in no list, or it is the requested model. */
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
