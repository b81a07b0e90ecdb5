import { isObject, type JsonObject, type MockCall, parseObject } from '../mock-format.ts'
import type { MockAccount, MockObject } from '../mock-objects.ts'
import { Refusal } from '../openai/family.ts'

/** What an upload answers: `headers` tell of its state, `body` is empty until the file is whole. */
export interface UploadAnswer {
  headers: [string, string][]
  body: JsonObject | null
}

const granularity = 262_144

/** Uploads as measured: resumable in several calls, raw and multipart in one. Source: wire/lanes.md, section 3.4. */
export function serveUpload(call: MockCall, account: MockAccount): UploadAnswer | Refusal {
  const session = call.query.get('upload_id')
  if (session !== null) return goOn(call, account, session)
  const protocol = call.headers.get('x-goog-upload-protocol')
  if (protocol === 'resumable') return start(call, account)
  if (protocol === 'raw') return whole(call, account, call.body, call.headers.get('content-type') ?? '')
  if (protocol === 'multipart') return related(call, account)
  return new Refusal(400, 'X-Goog-Upload-Protocol: resumable, raw or multipart')
}

function start(call: MockCall, account: MockAccount): UploadAnswer | Refusal {
  const size = Number(call.headers.get('x-goog-upload-header-content-length') ?? Number.NaN)
  if (call.headers.get('x-goog-upload-command') !== 'start') return new Refusal(400, 'X-Goog-Upload-Command: start')
  if (!Number.isInteger(size)) return new Refusal(400, 'X-Goog-Upload-Header-Content-Length is missing.')
  const id = call.objects.nextId('AbCd-')
  const described = parseObject(call.body)
  account.keep('session', {
    id,
    size,
    target: call.path,
    file: isObject(described?.file) ? described.file : (described ?? {}),
    type: call.headers.get('x-goog-upload-header-content-type') ?? 'application/octet-stream',
    state: 'active',
    received: [] as Buffer[],
  })
  const url = `http://${call.headers.get('host')}${call.path}?upload_id=${id}&upload_protocol=resumable`
  const headers: [string, string][] = [
    ['X-Goog-Upload-Status', 'active'],
    ['X-Goog-Upload-URL', url],
    ['X-Goog-Upload-Control-URL', url],
    ['X-Goog-Upload-Chunk-Granularity', String(granularity)],
    ['X-GUploader-UploadID', id],
  ]
  return { headers, body: null }
}

function goOn(call: MockCall, account: MockAccount, id: string): UploadAnswer | Refusal {
  const session = account.find('session', id)
  if (session === null) return new Refusal(404, 'Requested entity was not found.')
  const commands = (call.headers.get('x-goog-upload-command') ?? '').split(',').map((word) => word.trim())
  if (session.state !== 'active' && !commands.includes('query')) return new Refusal(400, 'The upload is over.')
  if (commands.includes('cancel')) return state(Object.assign(session, { state: 'cancelled' }), null)
  if (commands.includes('query')) return state(session, null)
  const finalizes = commands.includes('finalize')
  if (!finalizes && !commands.includes('upload')) return new Refusal(400, 'X-Goog-Upload-Command is missing.')
  if (commands.includes('upload')) {
    const wrong = take(call, session, finalizes)
    if (wrong !== null) return wrong
  }
  if (!finalizes) return state(session, null)
  const bytes = Buffer.concat(session.received as Buffer[])
  if (bytes.length !== session.size) return new Refusal(400, `Only ${bytes.length} of ${session.size} bytes are here.`)
  session.state = 'final'
  return state(session, made(call, account, session, bytes))
}

function take(call: MockCall, session: MockObject, last: boolean): Refusal | null {
  const received = session.received as Buffer[]
  const offset = call.headers.get('x-goog-upload-offset')
  if (offset === undefined) return new Refusal(400, 'X-Goog-Upload-Offset is missing.')
  if (Number(offset) !== sizeOf(received)) return new Refusal(400, `The offset must be ${sizeOf(received)}.`)
  if (!last && call.body.length % granularity !== 0) return new Refusal(400, `Chunks are multiples of ${granularity}.`)
  received.push(call.body)
  return null
}

function sizeOf(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0)
}

function state(session: MockObject, body: JsonObject | null): UploadAnswer {
  const headers: [string, string][] = [['X-Goog-Upload-Status', String(session.state)]]
  if (session.state === 'active')
    headers.push(['X-Goog-Upload-Size-Received', String(sizeOf(session.received as Buffer[]))])
  return { headers, body }
}

/** A file; or, in a store, the operation that will make a document of it. */
function made(call: MockCall, account: MockAccount, { target, file, type }: MockObject, bytes: Buffer): JsonObject {
  const store = /fileSearchStores\/[^/:]+/.exec(String(target))?.[0]
  if (store === undefined) return { file: keepFile(call, account, bytes, isObject(file) ? file : {}, String(type)) }
  const name = `${store}/upload/operations/${call.objects.nextId('up-')}`
  account.keep('operation', { id: name, name, done: true, response: { parent: store } })
  return { name, done: false }
}

export function keepFile(
  call: MockCall,
  account: MockAccount,
  bytes: Buffer,
  described: JsonObject = {},
  type = 'application/octet-stream',
): JsonObject {
  const name = String(described.name ?? `files/${call.objects.nextId('f')}`)
  const origin = `http://${call.headers.get('host')}`
  const file = {
    name,
    displayName: described.displayName ?? described.display_name ?? '',
    mimeType: described.mimeType ?? described.mime_type ?? type,
    sizeBytes: String(bytes.length),
    createTime: '2026-10-01T00:00:00Z',
    uri: `${origin}/v1beta/${name}`,
    state: 'ACTIVE',
    source: 'UPLOADED',
  }
  account.keep('file', { id: name, ...file }, bytes)
  return file
}

function whole(call: MockCall, account: MockAccount, bytes: Buffer, type: string, described: JsonObject = {}) {
  const file = keepFile(call, account, bytes, described, type)
  return { headers: [['X-Goog-Upload-Status', 'final'] satisfies [string, string]], body: { file } }
}

/** Two parts: what the file is, and the file. */
function related(call: MockCall, account: MockAccount): UploadAnswer | Refusal {
  const boundary = /boundary="?([^";]+)"?/.exec(call.headers.get('content-type') ?? '')?.[1]
  const parts = call.body.toString('latin1').split(`--${boundary}`).slice(1, -1)
  const [first, second] = parts.map((part) => Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4, -2), 'latin1'))
  const described = first === undefined ? null : parseObject(first)
  if (second === undefined || !isObject(described?.file))
    return new Refusal(400, 'Two parts are needed: JSON and bytes.')
  return whole(call, account, second, 'application/octet-stream', described.file)
}
