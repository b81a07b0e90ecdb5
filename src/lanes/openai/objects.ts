import type { LaneObjects } from '../contract.ts'
import { readEnd } from './objects/ended.ts'
import { formReferences } from './objects/form-references.ts'
import { notFound } from './objects/not-found.ts'
import { nextPage, readPage, writePage } from './objects/pages.ts'
import { queryReferences, references } from './objects/references.ts'
import { told } from './objects/told.ts'
import { readResult } from './usage.ts'

/** Source: wire/lanes.md, sections 1.4 and 1.5. No answer of this lane has a URL that a client follows with its credential. */
export const objects: LaneObjects = {
  references: (match, query, body) =>
    match.endpoint.model === 'query' ? queryReferences(query) : references(match, body),
  formReferences,
  told,
  readResult,
  readEnd,
  page: readPage,
  writePage: (_match, body, page, kept, more) => writePage(body, page, kept, more),
  nextPage: (_match, query, page) => nextPage(query, page),
  notFound,
  restoreUrls: (_match, body) => body,
  leads: () => false,
  rewriteUrls: (_match, body) => body,
}
