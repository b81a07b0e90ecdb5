import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SentCall, SentPiece } from '../../../src/admin/handlers/context.ts'
import { holdsGatewayKey } from '../../../src/core/secrets/gateway-key.ts'
import { sendCall } from '../../../src/daemon/calls/send-call.ts'
import type { Publisher } from '../../../src/daemon/threads/publisher.ts'
import type { SnapshotKey } from '../../../src/store/configuration/snapshot.ts'
import { closeServer, listen } from '../../support/listen.ts'
import { makeKey } from '../../support/snapshot.ts'

let server: Server
let origin: string
let answer: (request: IncomingMessage, response: ServerResponse) => void
let requests: IncomingMessage[]
let leased: SnapshotKey[]
let released: SnapshotKey[]
let refusal: Error | null

beforeEach(async () => {
  requests = []
  leased = []
  released = []
  refusal = null
  answer = (_request, response) => response.end('done')
  server = createServer((request, response) => {
    requests.push(request)
    answer(request, response)
  })
  origin = await listen(server)
})
afterEach(() => closeServer(server))

const publisher: Pick<Publisher, 'lease'> = {
  async lease(key) {
    if (refusal !== null) throw refusal
    leased.push(key)
    return { release: async () => void released.push(key) }
  },
}

function send(change: Partial<SentCall> = {}, signal = new AbortController().signal): AsyncGenerator<SentPiece> {
  const call: SentCall = {
    key: makeKey(),
    path: '/v1/chat/completions',
    body: '{"model":"m"}',
    agent: 'console',
    ...change,
  }
  return sendCall(publisher as Publisher, { origin, certificate: null }, call, signal)
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

function textOf(pieces: readonly SentPiece[]): string {
  return pieces.map((piece) => (piece.kind === 'data' ? piece.bytes.toString() : `${piece.status} `)).join('')
}

describe('a call as a key of one’s choice', () => {
  it('has a secret of its own that opens for a minute, and is taken back in the end', async () => {
    const key = makeKey({ name: 'ci', expiresAt: null })
    expect(textOf(await collect(send({ key })))).toBe('200 done')
    const secret = requests[0]?.headers.authorization?.replace('Bearer ', '') ?? ''
    expect(holdsGatewayKey(secret)).toBe(true)
    const [lent] = leased
    expect(lent).toMatchObject({ id: key.id, name: 'ci', lastFour: secret.slice(-4) })
    expect(lent?.hash).toBe(createHash('sha256').update(secret).digest('base64'))
    expect((lent?.expiresAt ?? 0) - Date.now()).toBeGreaterThan(0)
    expect((lent?.expiresAt ?? 0) - Date.now()).toBeLessThanOrEqual(60_000)
    expect(released).toEqual(leased)
  })

  it('lives no longer than the key itself, and goes where it is told', async () => {
    const expiresAt = Date.now() + 5000
    await collect(send({ key: makeKey({ expiresAt }), onlyProviderId: 'prv_1' }))
    expect(leased).toMatchObject([{ expiresAt, onlyProviderId: 'prv_1' }])
  })

  it('is JSON of the operator, unless its headers say otherwise', async () => {
    await collect(send())
    await collect(send({ headers: { 'content-type': 'text/plain', 'anthropic-version': '2023-06-01' } }))
    expect(requests.map(({ headers }) => [headers['content-type'], headers['user-agent']])).toEqual([
      ['application/json', 'console'],
      ['text/plain', 'console'],
    ])
    expect(requests[1]?.headers['anthropic-version']).toBe('2023-06-01')
  })

  it('comes piece by piece, as it is answered', async () => {
    const responses: ServerResponse[] = []
    answer = (_request, response) => {
      responses.push(response)
      response.writeHead(206, { 'X-Served-By': 'one' }).write('a')
    }
    const pieces = send()
    expect((await pieces.next()).value).toMatchObject({ kind: 'head', status: 206, headers: { 'x-served-by': 'one' } })
    expect(textOf([(await pieces.next()).value])).toBe('a')
    responses[0]?.write('b')
    expect(textOf([(await pieces.next()).value])).toBe('b')
    responses[0]?.end()
    expect((await pieces.next()).done).toBe(true)
    expect(released).toHaveLength(1)
  })

  it('loses nothing of an answer that is faster than its reader', async () => {
    const whole = Buffer.alloc(3_000_000, 'x')
    answer = (_request, response) => response.end(whole)
    let bytes = 0
    for await (const piece of send()) {
      if (piece.kind === 'data') bytes += piece.bytes.length
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(bytes).toBe(whole.length)
  })
})

describe('the secret of a call is taken back', () => {
  it('where the caller stops it, which cuts the call', async () => {
    const stop = new AbortController()
    const cut = Promise.withResolvers<void>()
    answer = (request, response) => {
      request.on('close', cut.resolve)
      response.on('close', cut.resolve)
      response.write('a')
    }
    const pieces = send({}, stop.signal)
    await pieces.next()
    stop.abort()
    await collect(pieces)
    await cut.promise
    expect(released).toEqual(leased)
  })

  it('where it was stopped before it began', async () => {
    expect(await collect(send({}, AbortSignal.abort()))).toEqual([])
    expect(released).toHaveLength(1)
  })

  it('where nobody reads on', async () => {
    answer = (_request, response) => void response.write('a')
    for await (const piece of send()) if (piece.kind === 'data') break
    expect(released).toHaveLength(1)
  })

  it('where the connection breaks off, which is said', async () => {
    answer = (_request, response) => {
      response.write('a')
      setImmediate(() => response.destroy())
    }
    await expect(collect(send())).rejects.toThrow(/./)
    expect(released).toHaveLength(1)
  })

  it('or was never lent, and then nothing is sent', async () => {
    refusal = new Error('The store does not answer.')
    await expect(collect(send())).rejects.toThrow('The store does not answer.')
    expect([requests, released]).toEqual([[], []])
  })
})
