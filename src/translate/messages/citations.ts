import { asArray, asObject, asString, asText, type JsonObject } from '../../core/json/json-value.ts'
import type { Citation } from '../conversation.ts'

/** Citations of web pages and search results. Citations of documents refer to the request: no other format has a place for them. */
export function readCitation(value: unknown): Citation | null {
  const citation = asObject(value)
  const url = asText(citation?.url) ?? (citation?.type === 'search_result_location' ? asText(citation.source) : null)
  if (citation === null || url === null) return null
  const quote = asText(citation.cited_text)
  return { url, title: asString(citation.title), start: null, end: null, ...(quote === null ? {} : { quote }) }
}

/** Null entries are citations that cannot be translated. */
export function readCitations(value: unknown): (Citation | null)[] {
  return asArray(value).map(readCitation)
}

/** The span is the block. Without the provider's index the client cannot send the citation back, which is intended. */
export function writeCitation({ url, title, quote }: Citation): JsonObject {
  return { type: 'web_search_result_location', url, title, cited_text: quote ?? '', encrypted_index: '' }
}
