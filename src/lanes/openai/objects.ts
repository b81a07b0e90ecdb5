import type { ObjectName, ObjectType } from '../../core/objects/stored-object.ts'
import type { LaneObjects, Match, ObjectPage, RenderedError } from '../contract.ts'
import { insertMember, readAround, scanList, writeList } from '../list-page.ts'
import { readResult } from './usage.ts'

/**
 * Source: wire/lanes.md, sections 1.4 and 1.5. No answer of this lane contains a URL that a client follows with its
 * credential.
 */
export const objects: LaneObjects = {
  readResult,
  page: readPage,
  writePage: (_match, body, page, kept, more) => writePage(body, page, kept, more),
  nextPage,
  notFound,
  rewriteRequestUrls: (body) => body,
  rewriteAnswerUrls: (body) => body,
}

const around = ['has_more', 'first_id', 'last_id']

/** The lists of this lane (wire/lanes.md, section 1.4): the cursor is the last item's id. */
export function readPage({ endpoint }: Match, body: Buffer): ObjectPage | null {
  const list = scanList(body, 'data', 'id', around)
  const type = endpoint.object?.type
  if (list === null || type === undefined) return null
  const items = list.elements.map(({ name, span }) => ({ name: { type, id: name }, span }))
  return { items, more: readAround(body, list, 'has_more') === true, token: null }
}

/** SDKs continue from the last item's id, or from `last_id`, and stop where `has_more` is missing. */
export function writePage(body: Buffer, page: ObjectPage, kept: readonly number[], more: boolean): Buffer {
  const list = scanList(body, 'data', 'id', around)
  if (list === null) return body
  const ids = kept.map((index) => page.items[index]?.name.id)
  const written = writeList(body, list, kept, {
    has_more: more,
    first_id: ids.at(0) ?? null,
    last_id: ids.at(-1) ?? null,
  })
  return more && !list.around.has('has_more') ? insertMember(written, 'has_more', true) : written
}

/** Pages backwards where the client asked for the items before one. */
export function nextPage(query: string, page: ObjectPage): string | null {
  const parameters = new URLSearchParams(query)
  const backwards = parameters.has('before') && !parameters.has('after')
  const cursor = (backwards ? page.items[0] : page.items.at(-1))?.name.id
  if (!page.more || cursor === undefined || cursor === '') return null
  parameters.set(backwards ? 'before' : 'after', cursor)
  return `?${parameters}`
}

interface Words {
  message: string
  param?: string
  code?: string
  status?: number
}

type Say = (id: string) => Words

/**
 * The provider's own messages for an object that does not exist. Confirmed by reports of its users: files, vector
 * stores, previous responses, items, fine-tuning jobs, assistants, threads. The others are plausible [K]: the same
 * wording, where nobody has shown the real one.
 */
const words: Partial<Record<ObjectType, Say>> = {
  assistant: (id) => ({ message: `No assistant found with id '${id}'.` }),
  batch: (id) => ({ message: `No batch found with id '${id}'.` }),
  chat_completion: (id) => ({ message: `Completion ${id} not found` }),
  file: (id) => ({ message: `No such File object: ${id}`, param: 'id' }),
  fine_tuning_job: (id) => ({
    message: `Could not find fine tune: ${id}`,
    param: 'fine_tune_id',
    code: 'fine_tune_not_found',
  }),
  item: (id) => ({
    message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    param: 'input',
  }),
  thread: (id) => ({ message: `No thread found with id '${id}'.` }),
  tuned_model: (id) => ({ message: `The model '${id}' does not exist`, param: 'model', code: 'model_not_found' }),
  upload: (id) => ({ message: `No such Upload object: ${id}`, param: 'id' }),
  vector_store: (id) => ({ message: `No vector store found with id '${id}'.` }),
}

const nouns: Partial<Record<ObjectType, string>> = {
  call: 'Call',
  character: 'Character',
  container: 'Container',
  conversation: 'Conversation',
  eval: 'Eval',
  live_session: 'Session',
  prompt: 'Prompt',
  response: 'Response',
  skill: 'Skill',
  video: 'Video',
  voice: 'Voice',
  voice_consent: 'Voice consent',
}

export function notFound(match: Match, { type, id }: ObjectName): RenderedError {
  const { message, param = null, code = null, status = 404 } = say(match, type, id)
  const error = { message, type: 'invalid_request_error', param, code }
  return {
    status,
    headers: [['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify({ error }, null, 2)),
  }
}

function say(match: Match, type: ObjectType, id: string): Words {
  // In the body of another call, a response is the previous one.
  if (type === 'response' && match.object !== id)
    return {
      message: `Previous response with id '${id}' not found.`,
      param: 'previous_response_id',
      code: 'previous_response_not_found',
      status: 400,
    }
  return words[type]?.(id) ?? { message: `${nouns[type] ?? 'Object'} with id '${id}' not found.` }
}
