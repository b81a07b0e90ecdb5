import type { FormatName } from '../core/format.ts'
import type { ReplyUsage } from './reply.ts'

const openai = 'default flex scale priority fast'
const words: Readonly<Record<FormatName, string>> = {
  chat: openai,
  responses: openai,
  messages: 'standard priority batch',
  generate: 'standard flex priority',
}

/** The tier at which the provider served the call; null: it does not say, or the format has no word for it. */
export function servedTier(usage: ReplyUsage | null, format: FormatName): string | null {
  const known = words[format].split(' ')
  const said = usage?.detail?.tier?.toLowerCase() ?? ''
  const tier = said === 'default' || said === 'standard' ? known[0] : said
  return known.find((word) => word === tier) ?? null
}
