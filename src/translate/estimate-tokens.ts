import { bytesPerToken } from '../core/cost/estimated-tokens.ts'
import type { Conversation, MediaPart, Part, TextPart } from './conversation.ts'
import { type DocumentPiece, fullLength } from './json.ts'

/** For an image of usual size, by the vendors' own rules of thumb. */
const imageTokens = 1600
/** For a document page or a second of sound, about 40 KB of base64 for each 1,000 tokens. */
const fileBytesPerToken = 40
/** What surrounds each turn and each tool. */
const frameTokens = 4
/** Too low is the worse error: a client that relies on it would exceed the model's context. */
const margin = 1.05

/** An estimate of a request's tokens for any model; everything that is sent counts. `pieces`: long texts that were cut out of it. */
export function estimateRequest({ turns, tools, settings }: Conversation, pieces: readonly DocumentPiece[]): number {
  let bytes = 0
  let tokens = frameTokens * (turns.length + tools.length)
  const add = (text: string | null | undefined) => {
    if (text != null) bytes += fullLength(text, pieces)
  }
  const addPart = (part: Part | TextPart | MediaPart): void => {
    if (part.kind === 'text' || part.kind === 'refusal' || part.kind === 'reasoning') add(part.text)
    else if (part.kind === 'call') {
      add(part.name)
      add(part.arguments)
    } else if (part.kind === 'result') part.parts.forEach(addPart)
    else if (part.kind !== 'server') tokens += estimateMedia(part, pieces)
  }
  for (const { parts, plain } of turns) {
    parts.forEach(addPart)
    if (plain === undefined) continue
    bytes += plain.textBytes
    tokens += frameTokens * (plain.count - 1)
  }
  for (const { name, description, schema, grammar } of tools) {
    add(name)
    add(description)
    for (const part of [schema, grammar]) if (part != null) add(JSON.stringify(part))
  }
  if (settings.output?.schema != null) add(JSON.stringify(settings.output.schema))
  return Math.ceil((bytes / bytesPerToken + tokens) * margin)
}

function estimateMedia({ kind, source }: MediaPart, pieces: readonly DocumentPiece[]): number {
  if (source.kind === 'text') return Math.ceil(fullLength(source.data, pieces) / bytesPerToken)
  if (kind === 'image' || source.kind !== 'data') return imageTokens
  return Math.max(imageTokens, Math.ceil(fullLength(source.data, pieces) / fileBytesPerToken))
}
