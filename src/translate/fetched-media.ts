import type { FormatName } from '../core/format.ts'
import type { Conversation, MediaPart, Part } from './conversation.ts'
import { readsAddress } from './generate/write-media.ts'
import { modelFacts } from './model-facts.ts'

/** The facts about a target that decide whether it fetches URLs itself. */
export interface MediaTarget {
  format: FormatName
  model: string
  /** A cloud's own form of Anthropic's API, which fetches none. */
  hosted: boolean
}

/** URLs of images and documents whose bytes the provider needs. */
export function listAddresses({ turns }: Conversation, target: MediaTarget): Map<string, MediaPart> {
  const found = new Map<string, MediaPart>()
  const look = (part: Part): void => {
    if (part.kind === 'result') for (const inner of part.parts) look(inner)
    else if ((part.kind === 'image' || part.kind === 'file') && part.source.kind === 'url' && needsBytes(part, target))
      found.set(part.source.url, part)
  }
  for (const { parts } of turns) for (const part of parts) look(part)
  return found
}

/** OpenAI fetches images in chat, and all URLs in Responses; Anthropic's own API fetches all. */
function needsBytes(part: MediaPart, { format, model, hosted }: MediaTarget): boolean {
  if (part.source.kind !== 'url' || format === 'responses') return false
  if (format === 'chat') return part.kind === 'file'
  return format === 'messages' ? hosted : !readsAddress(part.source, modelFacts(model))
}

/** The conversation with the fetched media in place, as base64. */
export function placeMedia(
  conversation: Conversation,
  found: ReadonlyMap<string, { type: string; data: string }>,
): Conversation {
  const place = <T extends Part>(part: T): T => {
    if (part.kind === 'result') return { ...part, parts: part.parts.map(place) }
    const media = 'source' in part && part.source.kind === 'url' ? found.get(part.source.url) : undefined
    return media === undefined ? part : { ...part, source: { kind: 'data', ...media } }
  }
  return { ...conversation, turns: conversation.turns.map((turn) => ({ ...turn, parts: turn.parts.map(place) })) }
}
