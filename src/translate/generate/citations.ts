import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json-value.ts'
import type { Citation } from '../conversation.ts'
import { countOf } from '../json.ts'

/** Offsets count bytes of UTF-8 here and UTF-16 units elsewhere. `text`: of the whole answer. */
export function readGrounding(metadata: JsonObject | null, text: string): Citation[] {
  const chunks = asArray(metadata?.groundingChunks).map((chunk) => asObject(asObject(chunk)?.web))
  const supports = asArray(metadata?.groundingSupports).map(asObject)
  if (supports.length === 0) return []
  const bytes = Buffer.from(text)
  return supports.flatMap((support) => {
    const segment = asObject(support?.segment) ?? {}
    const [from, to] = [countOf(segment.startIndex) ?? 0, countOf(segment.endIndex) ?? bytes.length]
    const quote = asText(segment.text)
    return asArray(support?.groundingChunkIndices).flatMap((index): Citation[] => {
      const web = typeof index === 'number' ? chunks[index] : null
      if (!web) return []
      const span = { start: unitsBefore(bytes, from), end: unitsBefore(bytes, to) }
      return [{ url: asString(web.uri), title: asString(web.title), ...span, ...(quote !== null && { quote }) }]
    })
  })
}

function unitsBefore(bytes: Buffer, offset: number): number {
  return bytes.toString('utf8', 0, Math.min(offset, bytes.length)).length
}

/** A citation with where its part stands in the whole text. */
export interface PlacedCitation {
  citation: Citation
  from: number
  to: number
}

export function writeGrounding(citations: readonly PlacedCitation[], text: string): JsonObject | null {
  if (citations.length === 0) return null
  const pages = new Map<string, { index: number; web: JsonObject }>()
  const supports = citations.map(({ citation: { url, title, start, end }, from, to }) => {
    const page = pages.get(url) ?? { index: pages.size, web: { uri: url, title } }
    pages.set(url, page)
    const [first, last] = [clip(start ?? from, text), clip(end ?? to, text)]
    const startIndex = Buffer.byteLength(text.slice(0, first))
    const cited = text.slice(first, Math.max(first, last))
    return {
      segment: { startIndex, endIndex: startIndex + Buffer.byteLength(cited), text: cited },
      groundingChunkIndices: [page.index],
    }
  })
  return { groundingChunks: [...pages.values()].map(({ web }) => ({ web })), groundingSupports: supports }
}

function clip(offset: number, text: string): number {
  return Math.min(Math.max(0, offset), text.length)
}
