import { asArray, asObject, asString, type JsonObject } from '../../core/json/json-value.ts'
import type { Citation } from '../conversation.ts'
import { countOf } from '../json.ts'

/** `base`: the text's position in the whole answer, from which a citation's offsets count. */
export function readCitations(annotations: unknown, base: number): Citation[] {
  return asArray(annotations).flatMap((value) => {
    const citation = readCitation(asObject(value), base)
    return citation === null ? [] : [citation]
  })
}

/** Kinds of annotations that no other format has, such as the provider's own files. */
export function foreignAnnotations(annotations: unknown): string[] {
  return asArray(annotations).flatMap((value) => {
    const type = asObject(value)?.type
    return typeof type === 'string' && type !== 'url_citation' ? [`annotations.${type}`] : []
  })
}

/** Null: the annotation does not cite a page. */
export function readCitation(annotation: JsonObject | null, base: number): Citation | null {
  if (annotation?.type !== 'url_citation') return null
  const [start, end] = [countOf(annotation.start_index), countOf(annotation.end_index)]
  const known = start !== null && end !== null
  return {
    url: asString(annotation.url),
    title: asString(annotation.title),
    start: known ? base + start : null,
    end: known ? base + end : null,
  }
}

/** A citation without a span covers its whole text. */
export function writeCitation({ url, title, start, end }: Citation, base: number, length: number): JsonObject {
  const within = (offset: number | null, otherwise: number) =>
    offset === null ? otherwise : Math.min(Math.max(0, offset - base), length)
  return { type: 'url_citation', url, title, start_index: within(start, 0), end_index: within(end, length) }
}
