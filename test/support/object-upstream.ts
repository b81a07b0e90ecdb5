import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What came to the upstream. */
export interface Arrival {
  method: string
  /** Path and query. */
  target: string
  /** The provider credential, wherever a kind puts it. */
  credential: string
  body: string
}

export interface Reply {
  status?: number
  type?: string
  headers?: Record<string, string>
  body: string
  /** The connection is cut behind so many bytes. */
  cut?: number
}

export interface ObjectUpstream {
  baseUrl: string
  arrivals: Arrival[]
  /** What it answers; may be changed at any time. */
  answer: (arrival: Arrival) => Reply
  close(): Promise<void>
}

/** A provider that answers whatever it is asked and remembers it: for what must never reach one, and must reach the right account. */
export async function startObjectUpstream(): Promise<ObjectUpstream> {
  const arrivals: Arrival[] = []
  const upstream: Pick<ObjectUpstream, 'answer'> = { answer: () => ({ body: '{}' }) }
  const server = createServer(async (request, response) => {
    const arrival = {
      method: request.method ?? '',
      target: request.url ?? '',
      credential: credentialOf(request),
      body: await readText(request),
    }
    arrivals.push(arrival)
    const { status = 200, type = 'application/json', headers, body, cut } = upstream.answer(arrival)
    response.writeHead(status, { 'content-type': type, ...headers, 'content-length': Buffer.byteLength(body) })
    if (cut === undefined) response.end(body)
    else response.write(Buffer.from(body).subarray(0, cut), () => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(upstream, {
    baseUrl: `http://127.0.0.1:${port}`,
    arrivals,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

function credentialOf({ headers }: IncomingMessage): string {
  const found = headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'] ?? ''
  return String(found).replace(/^Bearer /, '')
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}
