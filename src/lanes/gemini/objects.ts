import { asText } from '../../core/json/json-value.ts'
import type { ObjectName, ObjectType } from '../../core/objects/stored-object.ts'
import type { LaneObjects, Match, RenderedError } from '../contract.ts'
import { insertMember, readAround, scanList, writeList } from '../list-page.ts'
import { writeQuery } from '../query.ts'
import { readResult } from './ended.ts'
import { rewriteAnswerUrls, rewriteRequestUrls } from './urls.ts'

/** Objects at Google, whose ids are resource names. Source: wire/lanes.md, sections 3.3 to 3.6. */
export const objects: LaneObjects = {
  readResult,
  page(match, body) {
    const array = arrayOf(match)
    const list = array === null ? null : scanList(body, array, 'name', pageTokens)
    const type = match.endpoint.object?.type
    if (list === null || type === undefined) return null
    const token = asText(readAround(body, list, 'nextPageToken'))
    const items = list.elements.map(({ name, span }) => ({ name: { type, id: name }, span }))
    return { items, more: token !== null, token }
  },
  /**
   * An empty token means no token. Proto JSON leaves out empty members: any other answer would reveal that other
   * projects have some.
   */
  writePage(match, body, { token }, kept, more) {
    const array = arrayOf(match)
    const list = array === null ? null : scanList(body, array, 'name', pageTokens)
    if (list === null) return body
    const next = more ? (token ?? '') : ''
    if (kept.length === 0 && next === '') return nothing
    const written = writeList(body, list, kept, { nextPageToken: next })
    return next !== '' && !list.around.has('nextPageToken') ? insertMember(written, 'nextPageToken', next) : written
  },
  nextPage: (query, { token }) => (token === null ? null : writeQuery(query, 'pageToken', token, ['page_token'])),
  notFound,
  rewriteRequestUrls,
  rewriteAnswerUrls,
}

const pageTokens = ['nextPageToken']
const nothing = Buffer.from('{}')

const arrays: Partial<Record<ObjectType, string>> = {
  batch: 'operations',
  cached_content: 'cachedContents',
  file: 'files',
  file_search_store: 'fileSearchStores',
  tuned_model: 'tunedModels',
}

function arrayOf({ endpoint }: Match): string | null {
  return endpoint.object?.effect === 'list' ? (arrays[endpoint.object.type] ?? null) : null
}

/**
 * Google does not distinguish "not yours" from "not there". Source: wire/errors.md, section 3; all texts but the file's
 * are [K].
 */
function notFound(_match: Match, { type, id }: ObjectName): RenderedError {
  if (type === 'interaction')
    return rendered(404, { error: { code: 'not_found', message: `Interaction ${id} not found.` } })
  if (type !== 'file') {
    return rendered(404, {
      error: { code: 404, message: `Requested entity was not found: ${id}`, status: 'NOT_FOUND' },
    })
  }
  const name = id.replace(/^files\//, '')
  const message = `You do not have permission to access the File ${name} or it may not exist.`
  return rendered(403, { error: { code: 403, message, status: 'PERMISSION_DENIED' } })
}

function rendered(status: number, body: object): RenderedError {
  const headers: [string, string][] = [['content-type', 'application/json; charset=UTF-8']]
  return { status, headers, body: Buffer.from(JSON.stringify(body, null, 2)) }
}
