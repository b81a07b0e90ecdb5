import type { Candidate } from '../../routing/candidates.ts'
import type { LiveProvider } from '../thread/read-model.ts'

/** Of the servers with OpenAI's API, only OpenAI's own counts tokens. */
export function canCount({ translated }: Candidate, { kind }: LiveProvider): boolean {
  const to = translated?.to
  if (to === undefined || to === 'chat') return false
  if (to === 'responses') return kind.kind === 'openai' || kind.kind === 'azure-openai'
  return kind.serves?.includes('count_tokens') ?? true
}
