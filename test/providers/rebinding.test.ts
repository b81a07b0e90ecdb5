import dns, { type LookupAddress, type LookupOptions } from 'node:dns'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { egressOf } from '../../src/providers/egress.ts'
import { createHttpTransport } from '../../src/providers/http.ts'
import { listenOnPort } from '../support/listen.ts'
import { RecordingSink } from './recording-sink.ts'

/** What the name server says next; the last answer stays. */
const answers: string[][] = []
const asked: string[] = []

/** In place of the system's, also where it was imported before: other tests may share this thread. */
function lookupAsTold(name: string, _options: LookupOptions, done: (error: null, found: LookupAddress[]) => void) {
  asked.push(name)
  const found = (answers.length > 1 ? answers.shift() : answers[0]) ?? []
  done(
    null,
    found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  )
}

const server = http.createServer((_request, response) => response.setHeader('connection', 'close').end('inside'))
let port: number
beforeAll(async () => {
  port = await listenOnPort(server)
  vi.spyOn(dns, 'lookup').mockImplementation(lookupAsTold as typeof dns.lookup)
  syncBuiltinESMExports()
})
afterAll(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  server.close()
})
beforeEach(() => {
  answers.length = 0
  asked.length = 0
})

async function call(transport: ReturnType<typeof createHttpTransport>, host: string, allowed: boolean) {
  const sink = new RecordingSink()
  const egress = egressOf({ allow_private: allowed }, null)
  const origin = `http://${host}:${port}`
  transport.send({ method: 'GET', origin, path: '/', headers: [], body: null, connectMs: 2000, egress }, sink)
  await sink.seen('over')
  return sink.fault === null ? sink.text : sink.fault.message
}

it.each([
  ['127.0.0.1', /private address.*--allow-private/],
  ['::ffff:127.0.0.1', /private address/],
  ['169.254.169.254', /never called/],
  ['::ffff:169.254.169.254', /never called/],
  ['fd00:ec2::254', /never called/],
])('a public name that leads to %s is refused', async (address, words) => {
  answers.push([address])
  const transport = createHttpTransport()
  expect(await call(transport, 'llm.example.com', false)).toMatch(words)
  await transport.close()
})

it('one bad address among good ones is refused', async () => {
  answers.push(['203.0.113.7', '10.0.0.1'])
  const transport = createHttpTransport()
  expect(await call(transport, 'llm.example.com', false)).toMatch(/private address/)
  await transport.close()
})

it('a name that leads elsewhere at its second look is looked at again', async () => {
  answers.push(['127.0.0.1'], ['169.254.169.254'])
  const transport = createHttpTransport()
  expect(await call(transport, 'llm.example.com', true)).toBe('inside')
  expect(await call(transport, 'llm.example.com', true)).toMatch(/never called/)
  expect(asked).toEqual(['llm.example.com', 'llm.example.com'])
  await transport.close()
})

it('names that can only be private need no permission', async () => {
  answers.push(['127.0.0.1'])
  const transport = createHttpTransport()
  for (const host of ['ollama', 'localhost', 'vllm.models.svc.cluster.local', 'gpu.lan'])
    expect(await call(transport, host, false)).toBe('inside')
  await transport.close()
})
