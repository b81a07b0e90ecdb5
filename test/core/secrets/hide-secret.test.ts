import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hideInHeaders, hideSecret, Secret } from '../../../src/core/secrets/secret.ts'

const value = 'sk-proj-Ab+9/canary==~0123'
const secret = new Secret(value)
const hex = Buffer.from(value).toString('hex')
const escaped = [...value].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

const spellings: [string, string][] = [
  ['as it is', value],
  ['behind a word', `Bearer ${value}`],
  ['in base64', Buffer.from(value).toString('base64')],
  ['in base64 with a name', Buffer.from(`a:${value}`).toString('base64')],
  ['in base64url with more', Buffer.from(`ab:${value}!`).toString('base64url')],
  ['in hex', hex],
  ['in capital hex', hex.toUpperCase()],
  ['for a URL', `https://x.example/?key=${encodeURIComponent(value)}`],
  ['byte by byte for a URL', hex.replace(/../g, '%$&')],
  ['with JSON escapes', escaped],
]

describe('a credential', () => {
  it.each(spellings)('%s is hidden from texts, and headers with it do not pass', (_how, spelling) => {
    const hidden: string[] = []
    const headers = ['x-a', '1', 'x-echo', spelling, 'content-type', 'application/json']
    expect(hideInHeaders(headers, secret, (names) => hidden.push(...names))).toEqual([
      'x-a',
      '1',
      'content-type',
      'application/json',
    ])
    expect(hidden).toEqual(['x-echo'])
    const text = hideSecret(`{"a":"${spelling}","b":1}`, secret)
    expect(text).toContain('***')
    expect(text).not.toContain(spelling.slice(-12))
    expect(text.endsWith('","b":1}')).toBe(true)
  })

  it('is no name of a header either', () => {
    const hidden: string[] = []
    const name = value.toLowerCase()
    expect(hideInHeaders(['x-a', '1', name, '1'], secret, (names) => hidden.push(...names))).toEqual(['x-a', '1'])
    expect(hidden.join()).not.toContain(name)
  })

  it('leaves the very list that does not hold it', () => {
    const headers = ['x-request-id', 'req_0123456789', 'x-like', `${value.slice(0, -1)}`]
    expect(hideInHeaders(headers, secret, () => expect.unreachable())).toBe(headers)
  })

  it('that is a document is each of its own values, but for short ones', () => {
    const document = new Secret(
      JSON.stringify({ client_secret: 'shh-secret-0123', region: 'eu', key: 'line\nline-0123' }),
    )
    expect(hideSecret('shh-secret-0123 in eu: line\nline-0123 line\\nline-0123', document)).toBe('*** in eu: *** ***')
    expect(hideSecret('EMPTY', new Secret('EMPTY'))).toBe('EMPTY')
    expect(hideSecret('a {shh-no-json-0123', new Secret('{shh-no-json-0123'))).toBe('a ***')
  })

  it('is hidden in base64 whatever it stands in', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (before, after) => {
        const text = Buffer.from(before + value + after).toString('base64')
        const left = hideSecret(text, secret)
        expect(Buffer.from(left.replace('***', ''), 'base64').includes(value.slice(2, -2))).toBe(false)
        expect(left).toContain('***')
      }),
    )
  })
})
