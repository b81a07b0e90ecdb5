import type http from 'node:http'

/** What a provider does to one call. */
export type Act = (response: http.ServerResponse) => void

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
const content = event({ choices: [{ index: 0, delta: { content: 'a' } }] })
const finish = `${event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}data: [DONE]\n\n`
const inFuture = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

export const status =
  (code: number, headers: Record<string, string> = {}, message = 'no'): Act =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ type: 'error', error: { type: 'some_error', message } }))
  }
const streamed = (send: Act): Act => {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    send(response)
  }
}

export interface FaultRow {
  fault: string
  act: Act
  /** What the client sees of the first call. */
  seen: number
  /** After one call, and after so many: the provider as such, and the model with its one credential. */
  first: [provider: string, target: string]
  calls: number
  last: [provider: string, target: string]
  kind?: 'anthropic'
  streamed?: true
}

const well: FaultRow['first'] = ['ready', 'ready']
export const faultTable: FaultRow[] = [
  { fault: '429 without a word of when', act: status(429), seen: 429, first: well, calls: 25, last: well },
  {
    fault: '429 with retry-after',
    act: status(429, { 'retry-after': '9' }),
    ...{ seen: 429, first: ['ready', 'limited'], calls: 8, last: ['ready', 'limited'] },
  },
  {
    fault: "429 with OpenAI's resets",
    act: status(429, { 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '6m0s' }),
    ...{ seen: 429, first: ['ready', 'limited'], calls: 8, last: ['ready', 'limited'] },
  },
  {
    fault: "429 with Anthropic's resets",
    kind: 'anthropic',
    act: (response) =>
      status(429, {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': inFuture(30),
      })(response),
    ...{ seen: 429, first: ['ready', 'limited'], calls: 8, last: ['ready', 'limited'] },
  },
  { fault: '500', act: status(500), seen: 500, first: well, calls: 5, last: ['ready', 'open'] },
  {
    fault: '500, 25 times (litellm PR 34836)',
    act: status(500),
    seen: 500,
    first: well,
    calls: 25,
    last: ['ready', 'open'],
  },
  { fault: '529', act: status(529), seen: 529, first: well, calls: 5, last: ['ready', 'open'] },
  {
    fault: 'a reset',
    act: (response) => response.socket?.resetAndDestroy(),
    ...{ seen: 502, first: well, calls: 5, last: ['open', 'open'] },
  },
  {
    fault: 'silence',
    act: () => {},
    streamed: true,
    ...{ seen: 504, first: well, calls: 5, last: ['ready', 'open'] },
  },
  {
    fault: 'headers, and then silence',
    act: streamed((response) => response.flushHeaders()),
    streamed: true,
    ...{ seen: 504, first: well, calls: 5, last: ['ready', 'open'] },
  },
  {
    fault: 'a slow first byte within its limit',
    act: streamed((response) => setTimeout(() => response.end(content + finish), 100)),
    streamed: true,
    ...{ seen: 200, first: well, calls: 6, last: well },
  },
  {
    fault: 'a cut before the first content',
    act: streamed((response) => {
      response.write(event({ choices: [] }))
      setImmediate(() => response.socket?.resetAndDestroy())
    }),
    streamed: true,
    ...{ seen: 502, first: well, calls: 5, last: ['open', 'open'] },
  },
  {
    fault: 'a cut after the first content',
    act: streamed((response) => {
      response.write(content)
      setTimeout(() => response.socket?.resetAndDestroy(), 10)
    }),
    streamed: true,
    ...{ seen: 200, first: well, calls: 10, last: ['open', 'open'] },
  },
  {
    fault: 'an end of the stream without its end mark',
    act: streamed((response) => response.end(content)),
    streamed: true,
    ...{ seen: 200, first: well, calls: 10, last: ['ready', 'open'] },
  },
  {
    fault: 'an error in the midst of the stream',
    act: streamed((response) => response.end(content + event({ error: { message: 'overloaded', code: 503 } }))),
    streamed: true,
    ...{ seen: 200, first: well, calls: 10, last: ['ready', 'open'] },
  },
  {
    fault: 'a 429 as the first event of the stream',
    act: streamed((response) => response.end(event({ error: { message: 'slow down', code: 429 } }))),
    streamed: true,
    ...{ seen: 502, first: well, calls: 25, last: well },
  },
  {
    fault: 'a 429 in the midst of the stream',
    act: streamed((response) => response.end(content + event({ error: { message: 'slow down', code: 429 } }))),
    streamed: true,
    ...{ seen: 200, first: well, calls: 25, last: well },
  },
  { fault: '401', act: status(401), seen: 502, first: well, calls: 8, last: well },
  {
    fault: '400 for want of credit (litellm PR 16092)',
    kind: 'anthropic',
    act: status(400, {}, 'Your credit balance is too low to access the Anthropic API.'),
    ...{ seen: 503, first: ['cooling-down', 'cooling-down'], calls: 3, last: ['cooling-down', 'cooling-down'] },
  },
  { fault: '400', act: status(400), seen: 400, first: well, calls: 25, last: well },
]
