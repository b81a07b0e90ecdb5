import http from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lanes } from '../../src/lanes/index.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { listen } from '../support/listen.ts'
import { isWhole } from '../support/shows/is-whole.ts'
import { fragments, type Streamed, texts } from '../support/shows/lane-streams.ts'
import { type Answer, cuts } from '../support/shows/streams.ts'

/**
 * A secret in an answer, and in the arguments of a tool, in each form of stream: cut at every letter between two events, and in the
 * whole show at every byte between two writes of the provider too. No part of it comes out, and what comes is the whole text's.
 */

const secret = 'sk-proj-Abc123Def456Ghi789'
const said = `It is ${secret}, as asked.`
const saidHidden = 'It is [KEY_1], as asked.'
const called = `{"a":1,"k":"${secret.replace('k', '\\u006b')}","b":[true]}`
const calledHidden = '{"a":1,"k":"[KEY_1]","b":[true]}'

let provider: http.Server
let gateway: TestGateway
let key: string
let sent: Answer
/** Where the provider's bytes are parted; null: nowhere. */
let parting: number | null = null

beforeAll(async () => {
  provider = http.createServer(async (request, response) => {
    await request.resume().toArray()
    const bytes = Buffer.from(sent.text)
    response.writeHead(200, { 'content-type': sent.type })
    if (parting !== null) {
      response.write(bytes.subarray(0, parting))
      await nextTurn()
    }
    response.end(bytes.subarray(parting ?? 0))
  })
  const origin = await listen(provider)
  gateway = await startGateway({ environment: { SPGW_GATEWAY_WORKERS: '1' } })
  const { admin } = gateway
  for (const { name } of lanes) {
    const baseUrl = name === 'openai' ? `${origin}/v1` : origin
    await admin.providers.add({ name, kind: name, baseUrl, credential: `sk-${name}-shown`, skipCheck: true })
    await admin.routes.add({ model: `${name}-model`, targets: [name] })
  }
  await admin.objects.adopt({ name: 'asst_1', type: 'assistant', provider: 'openai' })
  const rules = [{ name: 'keys', detector: 'secrets', action: 'redact', on: ['answer'] }]
  await admin.policies.add({ name: 'masks', contentRules: { 'rules.json': JSON.stringify({ rules }) } })
  key = (await gateway.createKey('reader', { policy: 'masks' })).key
})

afterAll(async () => {
  await gateway.stop()
  provider.closeAllConnections()
  provider.close()
})

async function ask({ path, body }: Streamed, answer: Answer, at: number | null = null): Promise<string> {
  sent = answer
  parting = at
  const response = await fetch(`${gateway.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return await response.text()
}

/** Six letters of it in a row, anywhere in what came. */
function leaked(text: string): string[] {
  const parts = [...secret].map((_, at) => secret.slice(at, at + 6)).filter(({ length }) => length === 6)
  return parts.filter((part) => text.includes(part))
}

const rows = [
  ...Object.entries(texts).map(([name, way]) => ({ name, way, text: said, hidden: saidHidden })),
  ...Object.entries(fragments).map(([name, way]) => ({
    name: `a tool of ${name}`,
    way,
    text: called,
    hidden: calledHidden,
  })),
]

describe.each(rows)('a secret in $name', ({ way, text, hidden }) => {
  it('is redacted as in the whole text, wherever it is cut', async () => {
    const whole = way.read(await ask(way, way.answer([text])))
    expect(whole).toBe(hidden)
    const all = cuts(text)
    for (const pieces of isWhole ? all : all.filter((_, at) => at % 6 === 0 || at === all.length - 1)) {
      const came = await ask(way, way.answer(pieces))
      expect({ leaked: leaked(came), read: way.read(came), pieces }).toEqual({ leaked: [], read: whole, pieces })
    }
  })

  if (!isWhole) return
  it('is redacted at whichever byte the provider’s writes are parted', async () => {
    const answer = way.answer([text.slice(0, 12), text.slice(12)])
    for (let at = 1; at < Buffer.byteLength(answer.text); at++) {
      const came = await ask(way, answer, at)
      expect({ at, leaked: leaked(came), read: way.read(came) }).toEqual({ at, leaked: [], read: hidden })
    }
  })
})
