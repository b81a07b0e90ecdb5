import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'
import { listen } from '../support/listen.ts'

let provider: http.Server
let baseUrl: string
let plane: DataPlane

beforeAll(async () => {
  provider = http.createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{"choices":[]}'))
  })
  baseUrl = `${await listen(provider)}/v1`
  plane = await start()
})
afterAll(async () => {
  await plane.stop()
  provider.close()
})

function start(): Promise<DataPlane> {
  return startDataPlane({
    providers: [{ kind: 'openai', baseUrl }],
    timeouts: { betweenChunks: 600_000, total: 600_000 },
    policies: [
      { id: 'pol_1', name: 'narrow', attachedTo: { workspace: false, ids: [] }, allowModels: ['other-model'] },
    ],
  })
}

interface Answer {
  status: number
  code: string | undefined
  id: string
  text: string
}

/** Writes what `send` gives it, and resolves with the answer. */
async function exchange({ baseUrl }: DataPlane, send: (write: (text: string) => void) => unknown): Promise<Answer> {
  const { hostname, port } = new URL(baseUrl)
  const socket = net.connect({ port: Number(port), host: hostname }).on('error', () => {})
  let text = ''
  socket.on('data', (chunk) => (text += chunk))
  void send((bytes) => socket.write(bytes))
  while (!text.includes('\r\n\r\n') && !socket.closed) await Promise.race([once(socket, 'data'), once(socket, 'close')])
  socket.destroy()
  return {
    status: Number(text.slice(9, 12)),
    code: /x-sp-error: (\w+)/.exec(text)?.[1],
    id: /x-sp-request-id: (\w+)/.exec(text)?.[1] ?? '',
    text,
  }
}

const body = JSON.stringify({ model: 'openai-model', messages: [] })

function head(key: string, more: string, path = '/v1/chat/completions'): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n${more}\r\n`
}

const lengthOf = (text: string) => `content-length: ${text.length}\r\n`

async function chat(to: DataPlane): Promise<number> {
  const { status } = await exchange(to, (write) => write(head(to.key, lengthOf(body)) + body))
  return status
}

describe('a JSON body that is still arriving', () => {
  it('is ended by the revocation of its key', async () => {
    const answer = exchange(plane, (write) => write(head(plane.key, lengthOf(body)) + body.slice(0, -1)))
    // The gateway has read the head of the first request when it has answered the second one.
    expect(await chat(plane)).toBe(200)
    plane.tell({ type: 'close-streams', keyId: 'key_1' })
    const { status, code, id } = await answer
    expect([status, code]).toEqual([401, 'invalid_key'])
    expect(await plane.record(id)).toMatchObject({ status: 401, error: { code: 'invalid_key' }, attempts: [] })
  })

  it('is ended by the limit of a drain', async () => {
    const own = await start()
    const answer = exchange(own, (write) => write(head(own.key, lengthOf(body)) + body.slice(0, -1)))
    expect(await chat(own)).toBe(200)
    await own.drain(50)
    const { status, code, id } = await answer
    expect([status, code]).toEqual([503, 'overloaded'])
    expect(await own.record(id)).toMatchObject({ status: 503, error: { code: 'overloaded' } })
    await own.stop()
  })

  it('is admitted under its key as it is by then', async () => {
    const own = await start()
    const arrived = Promise.withResolvers<void>()
    const answer = exchange(own, async (write) => {
      write(head(own.key, lengthOf(body)) + body.slice(0, -1))
      await arrived.promise
      write(body.slice(-1))
    })
    expect(await chat(own)).toBe(200)
    await own.changeKey({ policyId: 'pol_1', tags: { team: 'b' } })
    arrived.resolve()
    const { status, code, id } = await answer
    expect([status, code]).toEqual([403, 'policy_denied'])
    expect(await own.record(id)).toMatchObject({ tags: { team: 'b' } })
    await own.stop()
  })
})

describe('a body', () => {
  it('is accepted with a content-encoding that says "not encoded", in any letters', async () => {
    const form = `--b\r\ncontent-disposition: form-data; name="model"\r\n\r\nopenai-model\r\n--b--\r\n`
    const multipart = 'content-encoding: Identity\r\ncontent-type: multipart/form-data; boundary=b\r\n'
    const asForm = head(plane.key, multipart + lengthOf(form), '/v1/audio/transcriptions')
    const answers = [
      await exchange(plane, (write) =>
        write(head(plane.key, `content-encoding: Identity\r\n${lengthOf(body)}`) + body),
      ),
      await exchange(plane, (write) => write(asForm.replace('content-type: application/json\r\n', '') + form)),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
  })

  it.each(['gzip, chunked', 'GZIP,Chunked', 'gzip'])('in the transfer coding %s is rejected', async (coding) => {
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const { status, text } = await exchange(plane, (write) =>
      write(head(plane.key, `transfer-encoding: ${coding}\r\n`) + chunks),
    )
    expect(status).toBe(501)
    expect(text).toMatch(/x-should-retry: false/)
    expect(text).toContain('"code":"unsupported_transfer"')
  })

  it("in another transfer coding is rejected in the lane's shape", async () => {
    const { status, text } = await exchange(plane, (write) =>
      write(`${head(plane.key, 'transfer-encoding: gzip, chunked\r\n', '/v1/anthropic/v1/messages')}0\r\n\r\n`),
    )
    expect(status).toBe(501)
    expect(text).toContain('"error_code":"unsupported_transfer"')
  })

  it('is accepted in chunks, however that is spelled', async () => {
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
    const spelled = head(plane.key, 'transfer-encoding: Chunked\r\n') + chunks
    expect((await exchange(plane, (write) => write(spelled))).status).toBe(200)
  })

  it('whose additional models have overlong names is rejected', async () => {
    const ask = (model: string) => ({ custom_id: model.slice(0, 5), params: { model, max_tokens: 1, messages: [] } })
    const batch = JSON.stringify({ requests: [ask('first'), ask('other'.repeat(200))] })
    const { status, code, text } = await exchange(plane, (write) =>
      write(head(plane.key, lengthOf(batch), '/v1/anthropic/v1/messages/batches') + batch),
    )
    expect([status, code]).toEqual([400, 'invalid_request'])
    expect(text).toContain('longer than 512 characters')
  })
})
