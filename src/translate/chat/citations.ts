import { asArray, asObject, asString, type JsonObject } from '../../core/json/json-value.ts'
import type { Citation } from '../conversation.ts'
import { countOf } from '../json.ts'

export function readAnnotations(value: unknown): Citation[] {
  return asArray(value).flatMap((annotation) => {
    const citation = asObject(asObject(annotation)?.url_citation)
    if (citation === null) return []
    const { url, title, start_index, end_index } = citation
    return [{ url: asString(url), title: asString(title), start: countOf(start_index), end: countOf(end_index) }]
  })
}

/** `from` and `to`: the cited part's position in the whole text, for a citation whose span is the part. */
export function writeAnnotation({ url, title, start, end }: Citation, from: number, to: number): JsonObject {
  return { type: 'url_citation', url_citation: { url, title, start_index: start ?? from, end_index: end ?? to } }
}
