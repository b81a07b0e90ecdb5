import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServerCertificate } from '../../src/gateway/thread/messages.ts'
import { certificateProblem } from '../../src/gateway/thread/server-address.ts'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { type DataPlane, startDataPlane } from '../support/data-plane.ts'

let directory: string
let plane: DataPlane
let first: ServerCertificate
let second: ServerCertificate

describe.skipIf(!hasOpenssl)('a listener that speaks TLS (needs openssl)', () => {
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'tls-'))
    const make = (name: string) => {
      const { key, pem } = makeCertificate(directory, name)
      return { cert: pem, key: readFileSync(key, 'utf8'), ticketKeys: randomBytes(48) }
    }
    first = make('first.example')
    second = make('second.example')
    plane = await startDataPlane({ providers: [], certificate: first })
  })
  afterAll(async () => {
    await plane.stop()
    rmSync(directory, { recursive: true })
  })

  const port = () => Number(new URL(plane.baseUrl).port)
  const dial = (more: ConnectionOptions = {}) =>
    connect({
      port: port(),
      host: '127.0.0.1',
      ca: [first.cert, second.cert],
      checkServerIdentity: () => undefined,
      ...more,
    })

  async function ask(socket: TLSSocket): Promise<string> {
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => (text += part))
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
    await once(socket, 'close')
    return text
  }

  it('speaks HTTP/1.1, and nothing with who wants only HTTP/2', async () => {
    const socket = dial({ ALPNProtocols: ['h2', 'http/1.1'] })
    await once(socket, 'secureConnect')
    expect(socket.alpnProtocol).toBe('http/1.1')
    expect(await ask(socket)).toMatch(/^HTTP\/1\.1 200 /)
    await expect(once(dial({ ALPNProtocols: ['h2'] }), 'secureConnect')).rejects.toThrow(/alert/)
  })

  it('hangs up on who speaks no TLS, and keeps no record of it', async () => {
    const before = plane.records().length
    for (const text of ['GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n', 'hello', '']) {
      const socket = connectPlain(port(), '127.0.0.1').on('error', () => {})
      socket.end(text)
      socket.resume()
      await once(socket, 'close')
    }
    const socket = dial()
    await once(socket, 'secureConnect')
    expect(await ask(socket)).toMatch(/^HTTP\/1\.1 200 /)
    expect(plane.records().length).toBe(before)
  })

  it('resumes a session, but never across another certificate', async () => {
    const begin = async () => {
      const socket = dial()
      const [ticket] = (await once(socket, 'session')) as [Buffer]
      socket.destroy()
      return ticket
    }
    const resumes = async (session: Buffer) => {
      const socket = dial({ session })
      await once(socket, 'secureConnect')
      const { subject } = socket.getPeerCertificate()
      const found = { reused: socket.isSessionReused(), name: subject?.CN }
      socket.destroy()
      return found
    }
    const session = await begin()
    expect((await resumes(session)).reused).toBe(true)
    await plane.change(second)
    expect(await resumes(session)).toEqual({ reused: false, name: 'second.example' })
  })

  it('says why OpenSSL would not take a certificate', () => {
    expect(certificateProblem(first)).toBeNull()
    expect(certificateProblem({ cert: first.cert, key: second.key })).toMatch(/mismatch/)
  })
})
