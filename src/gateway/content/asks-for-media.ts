import { type Span, scanObject, shortValue } from '../../core/json-scan.ts'
import { readValue } from '../../core/json-value.ts'

/** A request names the forms of its answer there: of a chat, and of Gemini's calls. */
const ownNames = ['modalities']
const holders = ['generationConfig', 'generation_config']
const heldNames = ['responseModalities', 'response_modalities']

/** Whether the answer cannot be text alone: a chat that asks for sound gets some, and one of Gemini's has only what it asks for. */
export function asksForMedia(body: Buffer): boolean {
  const own = valuesOf(body, ownNames)
  if (own.some((words) => words.includes('audio'))) return true
  const held = spansOf(body, holders).flatMap((span) => valuesOf(body, heldNames, span))
  return held.some((words) => words.length > 0 && !words.includes('text'))
}

function valuesOf(body: Buffer, names: readonly string[], within?: Span): string[][] {
  const lists = spansOf(body, names, within).map((span) => readValue(body, span, shortValue))
  return lists.map((list) => (Array.isArray(list) ? list.map((word) => String(word).toLowerCase()) : []))
}

function spansOf(body: Buffer, names: readonly string[], within?: Span): readonly Span[] {
  const scan = scanObject(body, names, within)
  return scan.ok ? scan.members : []
}
