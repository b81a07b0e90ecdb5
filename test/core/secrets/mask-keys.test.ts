import { describe, expect, it } from 'vitest'
import { entryHeaderBytes } from '../../../src/core/journal-format.ts'
import { blankUsageDetail, type RequestRecord } from '../../../src/core/record.ts'
import { maskKeys } from '../../../src/core/secrets/mask-keys.ts'
import { EntryBuffer } from '../../../src/gateway/journal/journal.ts'
import { blankRecord } from '../../../src/store/records/blank-record.ts'

/** The text of its entry in the journal. */
function written(record: RequestRecord): string {
  const buffer = new EntryBuffer()
  buffer.add({ kind: 'settled', record })
  return buffer.peek(0, true).bytes.subarray(entryHeaderBytes).toString()
}

const key = 'sk-proj-AbCd0123EfGh4567ijKlMnOpQrSt'

describe('keys of vendors in a text', () => {
  it.each([
    [`app/1.0 ${key}`, 'app/1.0 sk-…'],
    [`k=${key}, v`, 'k=sk-…, v'],
    ['sk-ant-api03-Q30aaaaaaaaaaaaaaaaaaaaaaa-bbbbb', 'sk-…'],
    ['sk-lf-1f0e3dad-9990-8a3b-7c6d-1f0e3dad9990', 'sk-…'],
    ['x AIzaSyA0bcdefghijklmnopqrstuvwxyz012345 y', 'x AIza… y'],
    ['Bearer abcDEF0123456789abcdef', 'Bearer …'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fw', 'eyJ…'],
    ['spt_0123456789abcdefABCDEF0123456789abcdefABCDEF01234', 'spt_…'],
    ['see https://h/v1?a=1&api_key=abcdefgh12&b=2.', 'see https://h/v1?a=1&api_key=…&b=2.'],
    ['http://user:pa:ss@h:80/x', 'http://user:…@h:80/x'],
    ['/v1/a%20sk-0123456789abcdefABCDEF', '/v1/a%20sk-…'],
    ['https://s3.example/x?X-Amz-Signature=0a1b2c3d4e5f&x=1', 'https://s3.example/x?X-Amz-Signature=…&x=1'],
    ['https://f.example/x?code=abcdefgh12&client_secret=abcdefgh12', 'https://f.example/x?code=…&client_secret=…'],
    ['https://h/x?apiKey=abcdefgh12', 'https://h/x?apiKey=…'],
    ['eyJhbGciOiJub25lIn0-sk-0123456789abcdefABCDEF', 'eyJ…'],
  ])('are masked: %s', (text, masked) => expect(maskKeys(text)).toBe(masked))

  it('are masked in JSON, behind the escape of a line too', () => {
    const masked = maskKeys(JSON.stringify({ message: `Bad key:\n${key}\u001b${key}"`, [key]: 1 }))
    expect(JSON.parse(masked)).toEqual({ message: 'Bad key:\nsk-…\u001bsk-…"', 'sk-…': 1 })
  })

  it.each([
    'task-0123456789abcdefghij',
    'hf_meta-llama-3-8b-instruct',
    'sk-learn-instruct-20240101',
    'Keys start with sk-.',
    'req_01m8p7at4neh62zhnmhn1ns2hk',
    'a bearer of good news',
    'eyJwYWdlIjoxMjM0NTY3ODkwfQ',
    'http://127.0.0.1:26900/v1?api-version=2026-01-01&monkey=abcdefghij',
    'sent to me@example.com: see https://h/x',
    'Send one as `Authorization: Bearer sp_live_…`.',
  ])('are not seen in %j', (text) => expect(maskKeys(text)).toBe(text))

  it('are found in time, whatever the text', () => {
    for (const part of [
      'sk-',
      'sk-a',
      'Bearer ',
      '://a:',
      '?key=',
      'eyJaaaaaaaa.',
      '-eyJ',
      '_eyJaaaaaaaaa',
      'a1',
      '.',
    ]) {
      const started = performance.now()
      maskKeys(part.repeat(100_000))
      expect(performance.now() - started).toBeLessThan(2000)
    }
  })
})

describe('a record for the journal', () => {
  const plain = { ...blankRecord(), path: '/v1/chat/completions', model: 'gpt-4o-mini', tags: { user: 'u' } }
  const attempt = { provider: 'p', upstream_model: 'm', status: 200, outcome: 'answered' }
  const times = { started_ms: 0, connected_ms: 0, first_byte_ms: 0, ended_ms: 0, cost: null }

  it.each<Partial<RequestRecord>>([
    { client: { address: null, user_agent: key } },
    { path: `/v1/files/${key}` },
    { model: key, upstream_model: key },
    { provider_request_id: key },
    { usage_detail: { ...blankUsageDetail, image_size: key } },
    { tags: { user: key } },
    { tags: { [key]: 'v' } },
    { losses: [`body.${key}`] },
    { error: { code: 'invalid_request', origin: 'client', message: key } },
    { attempts: [{ ...attempt, ...times, message: key }] },
    { tags: { at: 'postgres://me:0123-and-much-more-of-it@db/x' } },
    { tags: { at: 'x://u:0123@h' } },
    { tags: { auth: 'Basic a+b/0123+d/e0123=' } },
    { tags: { url: 'https://h/x?X-Goog-Signature=0123abcdef' } },
    { tags: { q: '?sig=01230123' } },
    { trace: { trace_id: '1', parent_id: '2', sampled: true, state: `v=${key}` } },
  ])('has no key: %j', (members) => {
    const record = { ...plain, ...members }
    const text = written(record)
    expect(text).not.toContain('0123')
    expect(JSON.parse(text)).toMatchObject({ kind: 'settled', record: { path: expect.any(String) } })
  })

  it('stays as it is without one', () => {
    expect(written(plain)).toBe(JSON.stringify({ kind: 'settled', record: plain }))
  })
})
