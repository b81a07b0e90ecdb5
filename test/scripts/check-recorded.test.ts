import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import zlib from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readExchanges } from '../../scripts/check-recorded/cassettes.ts'
import { replay } from '../../scripts/check-recorded/replay.ts'
import { findNative } from '../../scripts/check-recorded/vendors.ts'

let folder: string

const usage = 'usage: {prompt_tokens: 12, completion_tokens: 2, total_tokens: 354}'
const parsed = `interactions:
- request: {method: POST, uri: 'https://api.x.ai/v1/chat/completions', parsed_body: {model: grok, messages: []}}
  response: {status: {code: 200}, headers: {}, parsed_body: {id: c, choices: [], ${usage}}}
- request: {method: GET, uri: 'https://elsewhere.example/v1', parsed_body: {}}
  response: {status: {code: 200}, headers: {}, parsed_body: {}}
`
const cut = `requests:
- {method: POST, uri: REDACTED, headers: {}, body: '{"model":"m","stream":true,"messages":[]}'}
responses:
- {status: {code: 200}, headers: {}, body: {string: "data: {\\"choices\\":[{\\"delta\\":{\\"content\\":\\"x\\"}}]}\\n\\n"}}
`

beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'spgw-cassettes-'))
  fs.writeFileSync(path.join(folder, 'a.yaml'), parsed)
  fs.writeFileSync(path.join(folder, 'b.yaml.gz'), zlib.gzipSync(cut))
  fs.writeFileSync(path.join(folder, 'c.yaml'), 'interactions: [')
})
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }))

it('reads cassettes of both forms, and judges what was read', () => {
  const read = [...readExchanges(folder)].map((exchange) => {
    const { call } = findNative(exchange.method, exchange.url)
    return call === null ? null : { vendor: call.vendor, ...replay(call, exchange) }
  })
  expect(read).toEqual([
    { vendor: 'xai', form: 'whole', usage: 'reported', wrong: [] },
    null,
    {
      ...{ vendor: 'openai', form: 'stream', usage: 'estimated' },
      wrong: ['the stream ended without a finish reason and without [DONE]'],
    },
  ])
})
