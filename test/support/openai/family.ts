import { type JsonObject, type MockCall, type MockUsage, parseObject } from '../mock-format.ts'
import type { MockAccount, MockObject } from '../mock-objects.ts'

/** One call of a family that keeps objects: what its handlers are given. */
export interface FamilyCall {
  call: MockCall
  account: MockAccount
  /** What stood for the braces of the path, decoded. */
  ids: string[]
  /** Fields of a form are texts here too; its files are in `files`. */
  body: JsonObject
  files: FormFile[]
  usage: MockUsage
}

export interface FormFile {
  name: string
  filename: string
  bytes: Buffer
}

/** `{ text }` alone is plain text; `Given` of a call that is answered with an object is JSON. */
export type Given = JsonObject | Buffer | Refusal | Streamed | Located

/** Server-sent events; `tokens`: the last of them says how many were used. */
export interface Streamed {
  stream: string[]
  tokens: boolean
}

/** A call that was begun: SDP, and in a header where it is. */
export class Located {
  readonly sdp: string
  readonly location: string
  constructor(sdp: string, location: string) {
    this.sdp = sdp
    this.location = location
  }
}

export class Refusal {
  readonly status: number
  readonly message: string
  readonly param: string | null
  readonly code: string | null
  constructor(status: number, message: string, param: string | null = null, code: string | null = null) {
    this.status = status
    this.message = message
    this.param = param
    this.code = code
  }
}

export type Handler = (given: FamilyCall) => Given

/** `json`, `form` or `either` says what the body must be; `none`: it must be empty. */
export type Takes = 'json' | 'form' | 'either' | 'none'

export interface FamilyRow {
  call: string
  takes: Takes
  /** Members or fields without which it is refused. */
  required: string[]
  handle: Handler
}

export function on(call: string, handle: Handler, takes: Takes = 'none', ...required: string[]): FamilyRow {
  return { call, takes, required, handle }
}

export const created = 1_790_000_000

/** As the real one says it. */
const notFoundWords: Record<string, (id: string) => [message: string, param?: string, code?: string]> = {
  file: (id) => [`No such File object: ${id}`, 'id'],
  upload: (id) => [`No such Upload object: ${id}`, 'id'],
  batch: (id) => [`No batch found with id '${id}'.`],
  vector_store: (id) => [`No vector store found with id '${id}'.`],
  assistant: (id) => [`No assistant found with id '${id}'.`],
  thread: (id) => [`No thread found with id '${id}'.`],
  chat_completion: (id) => [`Completion ${id} not found`],
  fine_tuning_job: (id) => [`Could not find fine tune: ${id}`, 'fine_tune_id', 'fine_tune_not_found'],
}

export function notFound(kind: string, id: string): Refusal {
  const noun = kind === 'live_session' ? 'Session' : kind.charAt(0).toUpperCase() + kind.slice(1).replaceAll('_', ' ')
  const [message, param, code] = notFoundWords[kind]?.(id) ?? [`${noun} with id '${id}' not found.`]
  return new Refusal(404, message, param ?? null, code ?? null)
}

/** The object that the path's first id names, handed to `then`. */
export function withOne(kind: string, then: (object: MockObject, given: FamilyCall) => Given): Handler {
  return (given) => {
    const id = given.ids[0] ?? ''
    const object = given.account.find(kind, id)
    return object === null ? notFound(kind, id) : then(object, given)
  }
}

/** The object inside another that the path's second id names; kept under the kind `PARENT-ID/KIND`. */
export function withInner(
  outer: string,
  kind: string,
  then: (object: MockObject, given: FamilyCall, parent: MockObject) => Given,
): Handler {
  return withOne(outer, (parent, given) => {
    const id = given.ids[1] ?? ''
    const object = given.account.find(`${parent.id}/${kind}`, id)
    return object === null ? notFound(kind, id) : then(object, given, parent)
  })
}

export const show = (object: MockObject): Given => object

export function remove(kind: string, word = `${kind}.deleted`): Handler {
  return withOne(kind, ({ id }, { account }) => {
    account.drop(kind, id)
    return { id, object: word, deleted: true }
  })
}

export function update(kind: string): Handler {
  return withOne(kind, (object, { body }) => Object.assign(object, body))
}

export function list(
  kind: string,
  keep: (object: MockObject, query: URLSearchParams) => boolean = () => true,
): Handler {
  return ({ account, call }) =>
    page(
      account.all(kind).filter((object) => keep(object, call.query)),
      call.query,
    )
}

/** Cursor pages: newest first unless asked otherwise. */
export function page(objects: readonly MockObject[], query: URLSearchParams): Given {
  const sorted = query.get('order') === 'asc' ? [...objects] : objects.toReversed()
  const after = query.get('after')
  const before = after === null ? -1 : sorted.findIndex(({ id }) => id === after)
  if (after !== null && before < 0) return new Refusal(400, `Invalid 'after': no such object ${after}.`, 'after')
  const rest = sorted.slice(before + 1)
  const data = rest.slice(0, Number(query.get('limit') ?? 20))
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: data.length < rest.length,
  }
}

export function make(kind: string, prefix: string, more: (given: FamilyCall) => JsonObject): Handler {
  return (given) => given.account.keep(kind, { id: given.call.objects.nextId(prefix), ...more(given) })
}

/** Reads the body as the row says it must be; null where it is not. */
export function readBody(call: MockCall, takes: Takes): { body: JsonObject; files: FormFile[] } | null {
  const type = call.headers.get('content-type') ?? ''
  if (takes === 'none')
    return call.body.length === 0 || parseObject(call.body) !== null ? { body: {}, files: [] } : null
  if (takes !== 'json' && type.startsWith('multipart/form-data')) return readForm(call.body, type)
  if (takes === 'form' || !type.startsWith('application/json')) return null
  const body = call.body.length === 0 ? {} : parseObject(call.body)
  return body === null ? null : { body, files: [] }
}

function readForm(body: Buffer, type: string): { body: JsonObject; files: FormFile[] } | null {
  const boundary = /boundary="?([^";]+)"?/.exec(type)?.[1]
  const text = body.toString('latin1')
  if (boundary === undefined || !text.trimEnd().endsWith(`--${boundary}--`)) return null
  const fields: JsonObject = {}
  const files: FormFile[] = []
  for (const part of text.split(`--${boundary}`).slice(1, -1)) {
    const end = part.indexOf('\r\n\r\n')
    const name = /name="([^"]*)"/.exec(part.slice(0, end))?.[1]
    if (end < 0 || name === undefined) return null
    const filename = /filename="([^"]*)"/.exec(part.slice(0, end))?.[1]
    const bytes = Buffer.from(part.slice(end + 4, -2), 'latin1')
    if (filename === undefined) fields[name] = bytes.toString('utf8')
    else files.push({ name, filename, bytes })
  }
  return { body: fields, files }
}
