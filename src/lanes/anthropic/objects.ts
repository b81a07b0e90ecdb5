import type { Fault } from '../../core/errors.ts'
import { asObject, asText } from '../../core/json/json-value.ts'
import type { ObjectName, ObjectType } from '../../core/objects/stored-object.ts'
import { WatchedNames } from '../../core/watched-names.ts'
import type { Inspection, LaneObjects, Match, ObjectPage, RenderedError } from '../contract.ts'
import { walkMembers } from '../json-tree.ts'
import { readAround, scanList, writeList } from '../list-page.ts'
import { readQuery, writeQuery } from '../query.ts'
import { rewriteAnswerUrls } from './urls.ts'
import { readResult } from './usage.ts'

/** Objects at Anthropic. Source: wire/lanes.md, sections 2.3 to 2.5. */
export const objects: LaneObjects = {
  readResult,
  page: ({ endpoint }, body) => (endpoint.object === null ? null : page(endpoint.object.type, body)),
  writePage: (_match, body, { token }, kept, more) => writePage(body, token, kept, more),
  nextPage: (query, { items, more, token }) => (more ? nextPage(query, items, token) : null),
  notFound,
  // No request body contains one.
  rewriteRequestUrls: (body) => body,
  rewriteAnswerUrls,
}

const none: readonly ObjectName[] = []
/** The member names that `findReferences` looks for. */
export const referringNames = new WatchedNames(['file_id', 'container', 'skill_id', 'previous_message_id'])

/** The content of these members is the client's own: schemas and inputs of its tools. */
const foreign = new Set(['input', 'input_schema', 'metadata', 'properties'])
/** Citations only repeat where an answer's words came from. */
const repeated = 'citations'

/**
 * Finds `file_id` in every block, `container` as a name or an object, the custom skills in it, and the conversation
 * that a `thread` continues; also in each request of a batch. Anthropic's own skills have bare names (`xlsx`).
 */
export function findReferences(_query: string, body: Buffer): readonly ObjectName[] | Fault {
  if (body.length === 0) return none
  const found: ObjectName[] = []
  const wrong = walkMembers(body, {
    enter: (name) => !foreign.has(name) && name !== repeated,
    text(name, text, parent) {
      const type = referredType(name, parent)
      const id = type === null ? null : text.readId()
      if (type !== null && id !== null && (type !== 'skill' || id.startsWith('skill_'))) found.push({ type, id })
    },
  })
  return wrong ?? found
}

function referredType(name: string, parent: string): ObjectName['type'] | null {
  if (name === 'file_id') return 'file'
  if (name === 'container' && holdsRequest(parent)) return 'container'
  if (name === 'id' && parent === 'container') return 'container'
  if (name === 'skill_id') return 'skill'
  return name === 'previous_message_id' && parent === 'thread' ? 'thread' : null
}

/** The body itself, or a batch's `params`. */
function holdsRequest(parent: string): boolean {
  return parent === '' || parent === 'params'
}

/** Every created object of this lane has its id in the same place. */
export function createdObject({ endpoint }: Match, _inspection: Inspection, answer: unknown): readonly ObjectName[] {
  const { object } = endpoint
  const id = asText(asObject(answer)?.id)
  return object?.effect !== 'create' || id === null ? none : [{ type: object.type, id }]
}

/**
 * A message without a thread is recorded too where tools may have left something. Only the caller can know its id, and
 * the provider has no thread of that name.
 */
export function createdMessage(match: Match, inspection: Inspection, answer: unknown): readonly ObjectName[] {
  return inspection.stores ? createdObject(match, inspection, answer) : none
}

/** Only the type of the real messages is known. [K] */
const texts: Partial<Record<ObjectName['type'], (id: string) => string>> = {
  batch: (id) => `Message batch ${id} not found.`,
  container: (id) => `Container ${id} not found.`,
  file: (id) => `File not found: ${id}`,
  skill: (id) => `Skill not found: ${id}`,
  thread: (id) => `Thread not found: ${id}`,
}

/** Codes on which the SDKs act: for a lost thread they send the whole conversation again, under a new one. */
const codes: Partial<Record<ObjectName['type'], string>> = { thread: 'thread_not_found' }

/** Source: wire/errors.md, section 2. */
function notFound(_match: Match, { type, id }: ObjectName, requestId: string): RenderedError {
  const message = texts[type]?.(id) ?? `Not found: ${id}`
  const details = codes[type] === undefined ? {} : { details: { error_code: codes[type] } }
  const error = { type: 'not_found_error', message, ...details }
  const body = { type: 'error', error, request_id: requestId }
  return { status: 404, headers: [['content-type', 'application/json']], body: Buffer.from(JSON.stringify(body)) }
}

/**
 * Two ways to page: by the ids at a page's ends (`has_more`, `first_id`, `last_id`), or by a token (`next_page`). One
 * list changed from one to the other between versions, so the answer decides. Source: wire/lanes.md, section 2.4.
 */
const around = ['has_more', 'first_id', 'last_id', 'next_page']

export function page(type: ObjectType, body: Buffer): ObjectPage | null {
  const list = scanList(body, 'data', 'id', around)
  if (list === null) return null
  const next = readAround(body, list, 'next_page')
  const token = typeof next === 'string' && next !== '' ? next : null
  return {
    items: list.elements.map(({ name, span }) => ({ name: { type, id: name }, span })),
    more: token !== null || readAround(body, list, 'has_more') === true,
    token,
  }
}

export function writePage(body: Buffer, token: string | null, kept: readonly number[], more: boolean): Buffer {
  const list = scanList(body, 'data', 'id', around)
  if (list === null) return body
  const names = kept.map((index) => list.elements[index]?.name)
  return writeList(body, list, kept, {
    has_more: more,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
    next_page: more ? token : null,
  })
}

/** Pages in the direction that the client's first request chose. */
export function nextPage(query: string, items: readonly { name: ObjectName }[], token: string | null): string | null {
  const asked = readQuery(query)
  if (token !== null) return writeQuery(query, asked.has('page_token') ? 'page_token' : 'page', token)
  const backwards = asked.has('before_id')
  const end = backwards ? items[0] : items.at(-1)
  return end === undefined ? null : writeQuery(query, backwards ? 'before_id' : 'after_id', end.name.id)
}
