import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'

/** A whole answer as the wire had it: nothing decoded, no header folded away. */
export interface RawAnswer {
  status: number
  rawHeaders: string[]
  headers: ReadonlyMap<string, string>
  body: Buffer
  /** `cut`: the connection went before the framing said that the body was over. */
  ended: 'clean' | 'cut'
  requestId: string
}

export interface RawRequest {
  method?: string
  /** Name, value pairs exactly as sent; `host` and the length are added. */
  headers?: readonly (readonly [string, string])[]
  body?: string | Buffer
}

/** A request on its way, for tests that hang up or look at a stream while it runs. */
export interface RawExchange {
  /** Resolves at the response head. */
  head: Promise<IncomingMessage>
  /** Resolves as soon as the bytes received so far hold the text. */
  received(text: string): Promise<void>
  /** Everything, when the answer is over or cut. */
  whole: Promise<RawAnswer>
  /** Hangs up. */
  abort(): void
}

/** One connection a request: nothing of one test is left in a pool for the next. */
const agent = new Agent({ keepAlive: false })

export function send(url: string, request: RawRequest = {}): Promise<RawAnswer> {
  return open(url, request).whole
}

export function open(url: string, request: RawRequest = {}): RawExchange {
  const body = request.body === undefined ? null : Buffer.from(request.body)
  const headers = ['host', new URL(url).host, ...(request.headers ?? []).flat()]
  if (body !== null) headers.push('content-length', String(body.length))
  const outgoing = httpRequest(url, { method: request.method ?? 'POST', headers, agent, setDefaultHeaders: false })
  const head = new Promise<IncomingMessage>((resolve, reject) =>
    outgoing.once('response', resolve).once('error', reject),
  )
  const chunks: Buffer[] = []
  const waiting: { text: string; resolve: () => void }[] = []
  const whole = head.then((response) => collect(response, chunks, waiting))
  // Whoever only hangs up does not look at these.
  head.catch(() => {})
  whole.catch(() => {})
  outgoing.end(body ?? undefined)
  return { head, whole, received: (text) => watch(text, chunks, waiting, whole), abort: () => hangUp(outgoing) }
}

function hangUp(outgoing: ClientRequest): void {
  outgoing.once('error', () => {})
  outgoing.destroy()
}

function watch(
  text: string,
  chunks: Buffer[],
  waiting: { text: string; resolve: () => void }[],
  whole: Promise<RawAnswer>,
): Promise<void> {
  if (Buffer.concat(chunks).includes(text)) return Promise.resolve()
  const found = new Promise<void>((resolve) => waiting.push({ text, resolve }))
  const missed = whole.then((answer) => {
    if (!answer.body.includes(text)) throw new Error(`the answer ended without ${JSON.stringify(text)}: ${answer.body}`)
  })
  return Promise.race([found, missed])
}

async function collect(
  response: IncomingMessage,
  chunks: Buffer[],
  waiting: { text: string; resolve: () => void }[],
): Promise<RawAnswer> {
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    if (waiting.length === 0) return
    const sofar = Buffer.concat(chunks)
    for (const entry of waiting) if (sofar.includes(entry.text)) entry.resolve()
  })
  await new Promise<void>((resolve) => {
    response.once('end', resolve)
    response.once('error', () => resolve())
    response.once('close', resolve)
  })
  const headers = new Map(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
  return {
    status: response.statusCode ?? 0,
    rawHeaders: response.rawHeaders,
    headers,
    body: Buffer.concat(chunks),
    ended: response.complete ? 'clean' : 'cut',
    requestId: headers.get('x-sp-request-id') ?? '',
  }
}
