import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import zlib from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readExchanges } from '../../scripts/check-recorded/cassettes.ts'
import { replay } from '../../scripts/check-recorded/replay.ts'
import { TranslationCheck } from '../../scripts/check-recorded/translated.ts'
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

it('puts each of them into the other formats, and says what goes wrong', async () => {
  const check = new TranslationCheck()
  const wrong: string[] = []
  for (const exchange of readExchanges(folder)) wrong.push(...(await check.take(exchange)))
  const others = ['responses', 'messages', 'generate']
  expect(wrong).toEqual(others.map((to) => `chat to ${to}: the answer: The provider's answer has no message.`))
  // Nothing is asked in these, which Anthropic refuses.
  expect(check.counts.get('chat to messages')).toEqual({ requests: 0, refused: 2, answers: 1, streams: 1, wrong: 1 })
})
