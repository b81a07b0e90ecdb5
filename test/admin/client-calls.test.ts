import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type ClientRequest, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type CallerOptions, type ClientCaller, openCaller } from '../../src/admin/client-calls.ts'
import { temporaryDirectory } from '../store/support.ts'
import { startTestGateway } from './gateway.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** What answers so, at a socket of its own, and a caller of it. */
async function open(
  answer: Answer,
  more: Partial<CallerOptions> = {},
): Promise<{ calls: string[]; caller: ClientCaller }> {
  const calls: string[] = []
  const path = join(temporaryDirectory(), 'admin.sock')
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`)
    request.resume().once('end', () => answer(request, response))
  }).listen(path)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const options = { destination: { kind: 'socket', path }, version: '1', surface: 'cli', waitMs: 0 } as const
  return { calls, caller: openCaller({ ...options, ...more }) }
}

const events =
  (...lines: string[]): Answer =>
  (_request, response) => {
    if (!response.hasHeader('x-spgw-version')) response.setHeader('x-spgw-version', '1')
    response.setHeader('content-type', 'text/event-stream')
    response.end(lines.map((line) => `${line}\n\n`).join(''))
  }

async function all(stream: unknown): Promise<unknown[]> {
  const rows: unknown[] = []
  for await (const row of stream as AsyncIterable<unknown>) rows.push(row)
  return rows
}

describe('a stream', () => {
  it('gives what comes, up to its end', async () => {
    const { caller, calls } = await open(
      events(': alive', 'data: 1', 'event: message\ndata: {"a":2}', 'event: done\ndata: 0'),
    )
    expect(await all(await caller.call(['requests', 'tail'], {}))).toEqual([1, { a: 2 }])
    expect(calls).toEqual(['POST /api/requests/tail'])
  })

  it('of a gateway ends with saying so', async () => {
    const { socketPath: path } = await startTestGateway()
    const { caller } = await open(events(), { destination: { kind: 'socket', path }, version: '1.2.3' })
    const rows = await all(await caller.call(['cost', 'recompute'], { since: '1d' }))
    expect(rows).toMatchObject([{ done: true, checked: 0 }])
  })

  it('that ends without saying so was cut off, however politely: what came is not all', async () => {
    const { caller } = await open(events('data: 1'), { lostHint: ([noun]) => `Look at ${noun}.` })
    const seen: unknown[] = []
    const read = async () => {
      for await (const row of (await caller.call(['requests', 'export'], {})) as AsyncIterable<unknown>) seen.push(row)
    }
    await expect(read()).rejects.toMatchObject({ name: 'AnswerLost', hint: 'Look at requests.' })
    expect(seen).toEqual([1])
  })

  it('of a gateway of another version may end without saying so, as before it did', async () => {
    const { caller } = await open((request, response) => {
      response.setHeader('x-spgw-version', '0')
      events('data: 1')(request, response)
    })
    expect(await all(await caller.call(['requests', 'export'], {}))).toEqual([1])
  })

  it('that is left early is no loss', async () => {
    const { caller } = await open(events('data: 1', 'data: 2'))
    for await (const row of (await caller.call(['requests', 'tail'], {})) as AsyncIterable<unknown>) {
      expect(row).toBe(1)
      break
    }
  })

  it('ends with what the gateway says is wrong', async () => {
    const failure = { code: 'refused', message: 'No more.', data: { hint: 'Stop.' } }
    const { caller } = await open(events('data: 1', `event: error\ndata: ${JSON.stringify(failure)}`))
    await expect(caller.call(['requests', 'tail'], {}).then(all)).rejects.toMatchObject({
      name: 'OperationFailed',
      code: 'refused',
      data: { hint: 'Stop.' },
    })
  })
})

describe('an answer', () => {
  const plain =
    (status: number, body: string, headers: Record<string, string> = {}): Answer =>
    (_request, response) =>
      response.writeHead(status, headers).end(body)

  it.each<[string, number, string, unknown]>([
    ['JSON', 200, '{"a":1}', { a: 1 }],
    ['nothing', 204, '', undefined],
    ['null', 200, 'null', null],
  ])('of %s is that', async (_what, status, body, value) => {
    const { caller } = await open(plain(status, body))
    expect(await caller.call(['status'], {})).toEqual(value)
  })

  it.each<[string, number, string]>([
    ['a page', 200, '<html>Sign in</html>'],
    ['a page of a proxy', 502, '<html>Bad gateway</html>'],
    ['a redirect', 308, ''],
    ['JSON of something else', 404, '{"error":"no such page"}'],
    ['half a document', 200, '{"a":'],
  ])('of %s is of no gateway', async (_what, status, body) => {
    const { caller } = await open(plain(status, body))
    await expect(caller.call(['status'], {})).rejects.toMatchObject({ code: 'bad_answer', status })
  })

  it('says of which version it is, and what is degraded', async () => {
    const told: unknown[] = []
    const headers = { 'x-spgw-version': '2.0.0', 'x-spgw-degraded': 'store=2026-01-02T03:04:05.000Z,journal=' }
    const { caller } = await open(plain(200, '{}', headers), {
      onVersion: (version) => told.push(version),
      onDegraded: (parts) => told.push(...parts),
    })
    await caller.call(['status'], {})
    const since = '2026-01-02T03:04:05.000Z'
    expect(told).toEqual(['2.0.0', { part: 'store', since }, { part: 'journal', since: '' }])
  })

  it('of a gateway says what its own operation has met, of the first one too, also where it fails', async () => {
    const { socketPath: path, parts } = await startTestGateway()
    let met: 'refused' | null = null
    const since = '2026-01-02T03:04:05.000Z'
    parts.runtime.degraded = () => (met === null ? [] : [{ part: 'records', since, reason: 'refused' }])
    parts.runtime.ingest = async () => {
      met = 'refused'
    }
    const told: unknown[] = []
    const onDegraded = (found: readonly unknown[]) => told.push(...found)
    const { caller } = await open(events(), { destination: { kind: 'socket', path }, version: '1.2.3', onDegraded })
    await caller.call(['objects', 'list'], {})
    expect(told).toEqual([{ part: 'records', since }])
    await expect(caller.call(['objects', 'show'], { name: 'file-none' })).rejects.toMatchObject({ code: 'not_found' })
    expect(told).toHaveLength(2)
  })

  it('that breaks off is lost', async () => {
    const { caller } = await open((_request, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"a":')
      setImmediate(() => response.destroy())
    })
    await expect(caller.call(['status'], {})).rejects.toMatchObject({ name: 'AnswerLost' })
  })
})

describe('a network that goes away', () => {
  /** Ends the call as the network does, once it has arrived. */
  async function callWith(code: string, syscall: string, waitMs: number) {
    const sent = Promise.withResolvers<ClientRequest>()
    const onRequest = (message: unknown) => sent.resolve((message as { request: ClientRequest }).request)
    subscribe('http.client.request.start', onRequest)
    onTestFinished(() => void unsubscribe('http.client.request.start', onRequest))
    const fault = Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
    const fail = async (response: ServerResponse) => {
      if (calls.length > 1) return response.end('{}')
      return (await sent.promise).destroy(fault)
    }
    const { caller, calls } = await open((_request, response) => void fail(response), { waitMs })
    return { outcome: caller.call(['keys', 'create'], {}), calls }
  }

  it.each(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'])(
    'under way (%s) loses the answer, and the call is not made again',
    async (code) => {
      const { outcome, calls } = await callWith(code, 'read', 500)
      await expect(outcome).rejects.toMatchObject({ name: 'AnswerLost' })
      expect(calls).toEqual(['POST /api/keys/create'])
    },
  )
})

describe('an address', () => {
  it('may have a path of its own, and the call says who calls', async () => {
    const seen: unknown[] = []
    const server = createServer(({ url, headers }, response) => {
      seen.push(url, headers.authorization, headers['x-spgw-surface'])
      response.end('{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/spgw//`)
    const destination = { kind: 'remote', url, token: 'sp_api_x' } as const
    await openCaller({ destination, version: '1', surface: 'tui', waitMs: 0 }).call(['keys', 'list'], {})
    expect(seen).toEqual(['/spgw/api/keys/list', 'Bearer sp_api_x', 'tui'])
  })

  it.each([
    ['where nothing is', 'none.sock'],
    ['below a file', 'file/admin.sock'],
    ['too long for a socket', `${'d'.repeat(120)}.sock`],
  ])('where nobody listens is said, with what to do: %s', async (_what, name) => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'file'), '')
    const path = join(directory, name)
    const options = { destination: { kind: 'socket', path }, version: '1', surface: 'cli', waitMs: 0 } as const
    const call = openCaller({ ...options, startHint: 'Start it.' }).call(['status'], {})
    await expect(call).rejects.toMatchObject({
      name: 'GatewayNotRunning',
      message: `No gateway is running at ${path}.`,
      hint: 'Start it.',
    })
  })
})
