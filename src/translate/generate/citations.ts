import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { Citation } from '../conversation.ts'
import { countOf } from '../json.ts'

/** Offsets count bytes of UTF-8 here and UTF-16 units elsewhere. `text`: the whole answer's. */
export function readGrounding(metadata: JsonObject | null, text: string): Citation[] {
  const chunks = asArray(metadata?.groundingChunks).map((chunk) => asObject(asObject(chunk)?.web))
  const supports = asArray(metadata?.groundingSupports).map(asObject)
  if (supports.length === 0) return []
  const bytes = Buffer.from(text)
  const spanOf = (segment: JsonObject): readonly [number, number] => [
    Math.min(countOf(segment.startIndex) ?? 0, bytes.length),
    Math.min(countOf(segment.endIndex) ?? bytes.length, bytes.length),
  ]
  const segments = supports.map((support) => asObject(support?.segment) ?? {})
  const units = measure(segments.flatMap(spanOf), (from, to) => bytes.toString('utf8', from, to).length)
  return supports.flatMap((support, at) => {
    const segment = segments[at] ?? {}
    const [from, to] = spanOf(segment)
    const quote = asText(segment.text)
    return asArray(support?.groundingChunkIndices).flatMap((index): Citation[] => {
      const web = typeof index === 'number' ? chunks[index] : null
      if (!web) return []
      const span = { start: units.get(from) ?? 0, end: units.get(to) ?? 0 }
      return [{ url: asString(web.uri), title: asString(web.title), ...span, ...(quote !== null && { quote }) }]
    })
  })
}

/** Converts offsets into another unit; each piece of the text is measured once. */
function measure(
  offsets: readonly number[],
  lengthOf: (from: number, to: number) => number,
): ReadonlyMap<number, number> {
  const measured = new Map<number, number>()
  let [at, length] = [0, 0]
  for (const offset of [...new Set(offsets)].sort((a, b) => a - b)) {
    length += lengthOf(at, offset)
    at = offset
    measured.set(offset, length)
  }
  return measured
}

/** A citation, and the position of its part in the whole text. */
export interface PlacedCitation {
  citation: Citation
  from: number
  to: number
}

/** Characters of cited text, besides as many as the answer has: the offsets say the same, and many citations may each be of all of it. */
const mostQuoted = 64 * 1024

export function writeGrounding(citations: readonly PlacedCitation[], text: string): JsonObject | null {
  if (citations.length === 0) return null
  const spans = citations.map(({ citation: { start, end }, from, to }): readonly [number, number] => {
    const first = clip(start ?? from, text)
    return [first, Math.max(first, clip(end ?? to, text))]
  })
  const bytes = measure(spans.flat(), (from, to) => Buffer.byteLength(text.slice(from, to)))
  const pages = new Map<string, { index: number; web: JsonObject }>()
  let room = text.length + mostQuoted
  const supports = citations.map(({ citation: { url, title } }, at) => {
    const page = pages.get(url) ?? { index: pages.size, web: { uri: url, title } }
    pages.set(url, page)
    const [first, last] = spans[at] ?? [0, 0]
    room -= last - first
    const quote = room < 0 ? {} : { text: text.slice(first, last) }
    const segment = { startIndex: bytes.get(first), endIndex: bytes.get(last), ...quote }
    return { segment, groundingChunkIndices: [page.index] }
  })
  return { groundingChunks: [...pages.values()].map(({ web }) => ({ web })), groundingSupports: supports }
}

function clip(offset: number, text: string): number {
  return Math.min(Math.max(0, offset), text.length)
}
