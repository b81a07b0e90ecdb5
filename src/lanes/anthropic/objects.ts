import type { Fault } from '../../core/errors.ts'
import type { ObjectName } from '../../core/stored-object.ts'
import { WatchedNames } from '../../core/watched-names.ts'
import type { LaneObjects, Match, RenderedError } from '../contract.ts'
import { asObject, asText } from '../json-value.ts'
import { walkMembers } from '../json-walk.ts'
import { nextPage, page, writePage } from './pages.ts'
import { rewriteUrls } from './urls.ts'
import { readResult } from './usage.ts'

/** Objects at Anthropic. Source: wire/lanes.md, sections 2.3 to 2.5. */
export const objects: LaneObjects = {
  references: (match, _query, body) => (mayRefer(match, body) ? findReferences(body) : none),
  told,
  readResult,
  page: ({ endpoint }, body) => (endpoint.object === null ? null : page(endpoint.object.type, body)),
  writePage: (_match, body, { token }, kept, more) => writePage(body, token, kept, more),
  nextPage: (_match, query, { items, more, token }) => (more ? nextPage(query, items, token) : null),
  notFound,
  // No body of a request has one.
  restoreUrls: (_match, body) => body,
  leads: ({ endpoint }) => endpoint.object?.type === 'batch',
  rewriteUrls: (_match, body, urls) => rewriteUrls(body, urls),
}

const none: ObjectName[] = []
/** What `findReferences` goes by. */
export const referringNames = new WatchedNames(['file_id', 'container', 'skill_id', 'previous_message_id'])

function mayRefer({ endpoint }: Match, body: Buffer): boolean {
  return endpoint.takes.includes('json') && body.length > 0
}

/** Below these stand the client's own names: what its tools take, and what they were called with. */
const foreign = new Set(['input', 'input_schema', 'metadata', 'properties'])
/** A citation only repeats where an answer's words came from. */
const repeated = 'citations'

/**
 * `file_id` in every block that has one, `container` by name or as an object, the custom skills in it, and the conversation
 * that a `thread` goes on with; in each request of a batch too. Anthropic's own skills have bare names (`xlsx`).
 */
function findReferences(body: Buffer): ObjectName[] | Fault {
  const found: ObjectName[] = []
  const wrong = walkMembers(body, {
    enter: (name) => !foreign.has(name) && name !== repeated,
    text(name, id, parent) {
      if (name === 'file_id') found.push({ type: 'file', id })
      else if (name === 'container' && holdsRequest(parent)) found.push({ type: 'container', id })
      else if (name === 'id' && parent === 'container') found.push({ type: 'container', id })
      else if (name === 'skill_id' && id.startsWith('skill_')) found.push({ type: 'skill', id })
      else if (name === 'previous_message_id' && parent === 'thread') found.push({ type: 'thread', id })
    },
  })
  return wrong ?? found
}

/** The body itself, or a batch's `params`. */
function holdsRequest(parent: string): boolean {
  return parent === '' || parent === 'params'
}

/**
 * Whatever this lane makes says its id in the same place. A message without a thread is told of as well where tools may have
 * left something: nobody but the caller could name it, and the provider knows no such thread.
 */
function told({ endpoint }: Match, { stores }: { stores: boolean }, answer: unknown): ObjectName[] {
  const { object } = endpoint
  const id = asText(asObject(answer)?.id)
  if (object?.effect !== 'make' || id === null || (endpoint.operation === 'messages' && !stores)) return none
  return [{ type: object.type, id }]
}

/** The real texts are not known but for their type. [K] */
const texts: Partial<Record<ObjectName['type'], (id: string) => string>> = {
  batch: (id) => `Message batch ${id} not found.`,
  container: (id) => `Container ${id} not found.`,
  file: (id) => `File not found: ${id}`,
  skill: (id) => `Skill not found: ${id}`,
  thread: (id) => `Thread not found: ${id}`,
}

/** Source: wire/errors.md, section 2. */
function notFound(_match: Match, { type, id }: ObjectName, requestId: string): RenderedError {
  const message = texts[type]?.(id) ?? `Not found: ${id}`
  const body = { type: 'error', error: { type: 'not_found_error', message }, request_id: requestId }
  return { status: 404, headers: [['content-type', 'application/json']], body: Buffer.from(JSON.stringify(body)) }
}
