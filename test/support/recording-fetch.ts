import { sha256 } from './mock-provider.ts'

/** What one call of an SDK put on the wire and got back. */
export interface Recorded {
  method: string
  url: string
  requestBody: Buffer
  requestSha256: string
  status: number
  headers: Headers
  /** The whole body; resolves when the SDK's side of it is over too. */
  body: Promise<Buffer>
}

export interface RecordingFetch {
  fetch: typeof fetch
  exchanges: Recorded[]
  /** The last one; throws when nothing was sent. */
  last(): Recorded
  /** Changes the next calls on their way out: headers, address or body that the SDK itself would not send. */
  edit: ((request: EditableRequest) => void) | null
}

export interface EditableRequest {
  url: string
  headers: Headers
  body: Buffer | null
}

/** Taken at import: a test may put the recorder in the global's place for an SDK that takes no fetch of its own. */
const network = globalThis.fetch

/** A fetch for SDKs that keeps both bodies byte for byte. */
export function recordingFetch(): RecordingFetch {
  const recorder: RecordingFetch = {
    exchanges: [],
    edit: null,
    last() {
      const exchange = recorder.exchanges.at(-1)
      if (exchange === undefined) throw new Error('the SDK has sent nothing')
      return exchange
    },
    async fetch(input, init) {
      const request = new Request(input, init)
      const bytes = Buffer.from(await request.arrayBuffer())
      const outgoing: EditableRequest = {
        url: request.url,
        headers: new Headers(request.headers),
        body: bytes.length === 0 ? null : bytes,
      }
      recorder.edit?.(outgoing)
      const { method } = request
      const { signal } = request
      const response = await network(outgoing.url, {
        method,
        headers: outgoing.headers,
        signal,
        ...(outgoing.body === null ? {} : { body: new Uint8Array(outgoing.body) }),
      })
      const [forSdk, forTest] = response.body?.tee() ?? [null, null]
      const body = forTest === null ? Promise.resolve(Buffer.alloc(0)) : readAll(forTest)
      body.catch(() => {})
      const sent = outgoing.body ?? Buffer.alloc(0)
      recorder.exchanges.push({
        method,
        url: outgoing.url,
        requestBody: sent,
        requestSha256: sha256(sent),
        status: response.status,
        headers: response.headers,
        body,
      })
      const { status, statusText, headers } = response
      return new Response(forSdk, { status, statusText, headers })
    },
  }
  return recorder
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
