import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import https from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasOpenssl, makeCertificate } from '../support/certificate.ts'
import { type Crowd, startCrowd } from '../support/crowd.ts'
import { listAllRequests, runCommand } from '../support/gateway.ts'
import { laneCall } from '../support/lane-calls.ts'
import { open, send } from '../support/raw-http.ts'
import { type Stage, setStage } from '../support/stage.ts'

let directory: string
let stage: Stage | null = null
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reload-'))
})
afterEach(async () => {
  await stage?.close()
  stage = null
  rmSync(directory, { recursive: true, force: true })
})

const configure = (text: string) => writeFileSync(join(directory, 'config.yaml'), text)
const start = async (config: string) => {
  configure(config)
  stage = await setStage({ dataDirectory: directory, environment: { SPGW_GATEWAY_WORKERS: '2' } })
  return stage
}

/** A stream in mid-answer until it is let go. The crowd does not use this lane. */
async function holdStream({ mocks, models, key, gateway }: Stage) {
  const lane = laneCall('gemini')
  const gate = Promise.withResolvers<void>()
  mocks.gemini.next({ hold: { before: lane.firstContent + 1, until: gate.promise } })
  const { path, body } = lane.call(models.gemini, { stream: true })
  const headers: [string, string][] = [lane.credential(key), ['content-type', 'application/json']]
  const stream = open(gateway.baseUrl + path, { headers, body })
  await stream.received(lane.contentMark)
  return {
    async end() {
      gate.resolve()
      const answer = await stream.whole
      expect(answer.ended).toBe('clean')
      expect(answer.body.toString()).toContain(lane.endMark)
      return answer.requestId
    },
  }
}

/** Nothing failed, and every answer has its one settled record. `more`: ids and statuses of what others than the crowd asked. */
async function expectAllRecorded({ gateway }: Stage, crowd: Crowd, more: Record<string, number>): Promise<void> {
  expect(crowd.tally.failed).toEqual([])
  expect(crowd.tally.refused).toBe(0)
  for (const id of Object.keys(more)) await gateway.record(id)
  const records = await listAllRequests(gateway)
  const found = records.map(({ id, state, status }) => `${id} ${state} ${status}`)
  const sent = [...crowd.tally.complete, ...Object.entries(more)].map(([id, status]) => `${id} settled ${status}`)
  expect(found.sort()).toEqual(sent.sort())
}

describe('SIGHUP under load', () => {
  it('five times: no request fails, each is recorded, and each setting holds at once', async () => {
    const stage = await start('')
    const { gateway } = stage
    const stream = await holdStream(stage)
    const crowd = startCrowd(stage, { clients: 6 })
    await crowd.answered(10)
    for (let round = 1; round <= 5; round++) {
      configure(`gateway: { body_limit: ${round}KB, cors_origins: ["https://round${round}.example"] }`)
      gateway.signal('SIGHUP')
      await gateway.said('"message":"configuration reloaded"', round)
      // Over several connections, so that each thread is asked.
      for (let turn = 0; turn < 6; turn++) {
        const headers: [string, string][] = [['origin', `https://round${round}.example`]]
        const preflight = await send(`${gateway.baseUrl}/v1/models`, { method: 'OPTIONS', headers })
        expect(preflight.headers.get('access-control-allow-origin')).toBe(`https://round${round}.example`)
      }
      await crowd.answered(10)
    }
    expect(gateway.stderr()).toContain(
      '"changed":"gateway.body_limit, gateway.cors_origins","waits_for_restart":"nothing"',
    )
    await crowd.leave()
    const lane = laneCall('openai')
    const { path, body } = lane.call(stage.models.openai, { prompt: 'x'.repeat(5000) })
    const refused = await send(gateway.baseUrl + path, { headers: [lane.credential(stage.key)], body })
    expect(refused.status).toBe(413)
    await expectAllRecorded(stage, crowd, { [await stream.end()]: 200, [refused.requestId]: 413 })
  })

  it('refuses what is wrong as a whole, shows it, and goes on as before', async () => {
    const { gateway } = await start('gateway: { body_limit: 1MB }\n')
    configure('gateway: { body_limit: 2MB, workerz: 3 }\n')
    gateway.signal('SIGHUP')
    await gateway.said('configuration not reloaded')
    expect(gateway.stderr()).toContain(
      'config.yaml:1:29: unknown setting gateway.workerz; did you mean gateway.workers?',
    )
    const shown = await gateway.admin.status({})
    expect(shown.degraded).toMatchObject([{ part: 'configuration', reason: expect.stringContaining('workerz') }])
    expect((await send(`${gateway.baseUrl}/readyz`, { method: 'GET' })).status).toBe(200)
    configure('gateway: { body_limit: 2MB, workers: 4, url: "https://public.example" }\nlog: { level: warn }\n')
    gateway.signal('SIGHUP')
    await gateway.said('no longer degraded')
    const after = await gateway.admin.status({})
    expect([after.degraded, after.gateway_url, after.workers]).toEqual([[], 'https://public.example', 2])
  })
})

describe.skipIf(!hasOpenssl)('another certificate (needs openssl)', () => {
  it('is seen by new connections, while old ones and their streams go on', async () => {
    const [first, second] = [makeCertificate(directory, 'first.example'), makeCertificate(directory, 'second.example')]
    const install = ({ cert, key }: typeof first) => {
      copyFileSync(cert, join(directory, 'cert.pem'))
      copyFileSync(key, join(directory, 'key.pem'))
    }
    install(first)
    const files = 'tls: { cert: cert.pem, key: key.pem }'
    const stage = await start(`gateway: { ${files} }\nconsole: { ${files} }\n`)
    const { gateway } = stage
    expect(gateway.baseUrl).toMatch(/^https:/)
    const trusted = () => [first.pem, second.pem]
    const crowd = startCrowd(stage, { clients: 4, trusted })
    const stream = await holdSecureStream(stage, first.pem)
    await crowd.answered(10)
    expect(await nameAt(gateway.baseUrl, trusted())).toBe('first.example')

    install(second)
    gateway.signal('SIGHUP')
    await gateway.said('"changed":"certificate of gateway, certificate of console"')
    for (let turn = 0; turn < 6; turn++) expect(await nameAt(gateway.baseUrl, trusted())).toBe('second.example')
    expect(await nameAt(gateway.consoleUrl, trusted())).toBe('second.example')
    await crowd.answered(10)

    copyFileSync(first.key, join(directory, 'key.pem'))
    gateway.signal('SIGHUP')
    await gateway.said('does not match')
    expect(await nameAt(gateway.baseUrl, trusted())).toBe('second.example')
    await crowd.leave()
    const tried = await gateway.admin.routes.test({ model: stage.models.openai })
    expect(tried).toMatchObject({ ok: true, status: 200 })
    await expectAllRecorded(stage, crowd, { [await stream.end()]: 200, [tried.request_id]: 200 })
    const secret = readFileSync(second.key, 'utf8').split('\n')[1] ?? ''
    expect(gateway.stderr() + gateway.stdout()).not.toContain(secret)
  })

  it('refuses to start with files that do not fit, before anything is made', async () => {
    const { cert } = makeCertificate(directory, 'one.example')
    const { key } = makeCertificate(directory, 'two.example')
    const environment = { SPGW_GATEWAY_TLS_CERT: cert, SPGW_GATEWAY_TLS_KEY: key }
    const data = join(directory, 'data')
    const { code, stderr } = await runCommand(['serve', '--data-dir', data], { environment })
    expect([code, stderr]).toEqual([1, expect.stringContaining(`gateway.tls.key: ${key}: does not match ${cert}`)])
    expect(() => readFileSync(join(data, 'machine.key'))).toThrow('ENOENT')
  })
})

/** The name in the certificate that a new connection is shown. */
function nameAt(url: string, trusted: string[]): Promise<string> {
  const { hostname: host, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port), ca: trusted, checkServerIdentity: () => undefined }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

async function holdSecureStream({ mocks, models, key, gateway }: Stage, trusted: string) {
  const lane = laneCall('gemini')
  const gate = Promise.withResolvers<void>()
  mocks.gemini.next({ hold: { before: lane.firstContent + 1, until: gate.promise } })
  const { path, body } = lane.call(models.gemini, { stream: true })
  const headers = Object.fromEntries([lane.credential(key), ['content-type', 'application/json']])
  const agent = new https.Agent({ ca: trusted, checkServerIdentity: () => undefined })
  const request = https.request(gateway.baseUrl + path, { method: 'POST', headers, agent })
  request.end(body)
  const begun = Promise.withResolvers<void>()
  const whole = new Promise<{ text: string; id: string }>((resolve, reject) => {
    request.on('error', reject)
    request.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
        if (text.includes(lane.contentMark)) begun.resolve()
      })
      response.on('end', () => resolve({ text, id: String(response.headers['x-sp-request-id']) }))
    })
  })
  await Promise.race([begun.promise, whole])
  return {
    async end() {
      gate.resolve()
      const { text, id } = await whole
      expect(text).toContain(lane.endMark)
      agent.destroy()
      return id
    },
  }
}
