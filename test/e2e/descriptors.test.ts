import { spawnSync } from 'node:child_process'
import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fewestDescriptors } from '../../src/daemon/require-descriptors.ts'
import { executable } from '../support/executable.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'

let gateway: TestGateway
let provider: http.Server
let key: string
const open: net.Socket[] = []

beforeAll(async () => {
  // Never answers: each call holds two descriptors of the gateway.
  provider = http.createServer((request) => void request.resume())
  const origin = await listen(provider)
  gateway = await startGateway({ launcher: ['prlimit', '--nofile=256:256'], config: 'gateway:\n  workers: 1\n' })
  const more = { kind: 'openai', baseUrl: `${origin}/v1`, credential: 'sk-x', skipCheck: true } as const
  await gateway.admin.providers.add({ name: 'silent', ...more })
  await gateway.addRoute('m', ['silent'])
  key = (await gateway.createKey('app')).key
})
afterAll(async () => {
  for (const socket of open) socket.destroy()
  await gateway.stop()
  provider.closeAllConnections()
  provider.close()
})

const body = JSON.stringify({ model: 'm', messages: [] })

/** One call on a connection of its own; resolves to its answer, '' for a connection that was reset. */
async function call(): Promise<string> {
  const { port } = new URL(gateway.baseUrl)
  const socket = net.connect(Number(port), '127.0.0.1').on('error', () => {})
  open.push(socket)
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`
  socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`)
  let text = ''
  socket.on('data', (bytes) => (text += bytes))
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}

it('a gateway that could only refuse does not start, and says what it needs', () => {
  const command = ['prlimit', '--nofile=64:64', executable, 'serve', '--data-dir', '/nonexistent']
  const { status, stderr } = spawnSync(command[0] ?? '', command.slice(1), { encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toMatch(/may open 64 files, too few to serve requests\nAllow at least \d+, .*LimitNOFILE=/)
})

// Each data-plane thread holds some; 96 were enough for one.
it.each([16])('%d threads start and serve with as few as that says, and not with one less', async (workers) => {
  const config = `gateway:\n  workers: ${workers}\n`
  const fewest = fewestDescriptors({ gateway: { workers }, cluster: null })
  const start = (limit: number) => startGateway({ launcher: ['prlimit', `--nofile=${limit}:${limit}`], config })
  await expect(start(fewest - 1)).rejects.toThrow(`Allow at least ${fewest}`)
  const least = await start(fewest)
  try {
    const { key: one } = await least.createKey('one')
    const ask = () => fetch(`${least.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${one}` } })
    expect((await ask()).status).toBe(200)
    const { stdout } = await least.spgw(['doctor'])
    expect(stdout).toMatch(/only \d+ files and connections may be open/)
  } finally {
    await least.stop()
  }
})

describe('a gateway with few descriptors left', () => {
  it('says so itself to everybody whom it cannot serve, and blames no provider', async () => {
    const answers: string[] = []
    const calls: Promise<unknown>[] = []
    for (let index = 0; index < 400; index++) {
      calls.push(call().then((text) => answers.push(text)))
      const socket = open.at(-1)
      if (socket?.connecting) await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))
    }
    await expect.poll(() => answers.length).toBeGreaterThan(250)
    for (const text of answers)
      expect(text).toMatch(/^HTTP\/1\.1 503 .*x-sp-error: overloaded.*x-sp-error-origin: gateway/is)
    for (const text of answers) expect(text).toMatch(/retry-after: 1\r\n/i)
    // Descriptors are left for operators and probes.
    expect((await fetch(`${gateway.baseUrl}/healthz`)).status).toBe(200)
    const { code, stdout } = await gateway.spgw(['providers', 'show', 'silent', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).not.toMatchObject({ state: 'failing' })
    for (const socket of open) socket.destroy()
    await Promise.all(calls)
  })

  it('says so to a burst as well, also where the requests come after their connections', async () => {
    const { port } = new URL(gateway.baseUrl)
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`
    for (const late of [false, true]) {
      const answers: string[] = []
      const sockets = Array.from({ length: 600 }, () => {
        const socket = net.connect(Number(port), '127.0.0.1').on('error', () => {})
        const send = () => void socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`)
        if (late) socket.once('connect', () => setTimeout(send, 5))
        else send()
        let text = ''
        socket.on('data', (bytes) => (text += bytes))
        socket.once('close', () => answers.push(text))
        return socket
      })
      await expect.poll(() => answers.length).toBeGreaterThan(400)
      for (const text of answers) expect(text).toMatch(/^HTTP\/1\.1 503 .*x-sp-error: overloaded/is)
      for (const socket of sockets) socket.destroy()
      await expect.poll(() => answers.length).toBe(600)
    }
  })

  it('serves again when they are free', async () => {
    provider.removeAllListeners('request')
    provider.on('request', (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      request.resume().on('end', () => response.end('{"id":"c","object":"chat.completion","choices":[]}'))
    })
    await expect
      .poll(async () => {
        const answer = call()
        setTimeout(() => open.at(-1)?.end(), 500)
        return (await answer).slice(0, 12)
      })
      .toBe('HTTP/1.1 200')
  })
})
