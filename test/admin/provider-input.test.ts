import { rootCertificates } from 'node:tls'
import { describe, expect, it } from 'vitest'
import {
  checkHeaders,
  findProviderKind,
  isElsewhere,
  isOtherWay,
  readBaseUrl,
  readSettings,
} from '../../src/admin/handlers/providers/provider-input.ts'
import { providerKinds } from '../../src/providers/index.ts'

const kindOf = (name: string) => findProviderKind({ kinds: providerKinds }, name)
const openai = kindOf('openai')
const compatible = kindOf('openai-compatible')

describe('the base URL of a provider', () => {
  it.each([
    ['https://api.example.com/v1', 'https://api.example.com/v1'],
    ['https://api.example.com/v1///', 'https://api.example.com/v1'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['https://api.example.com/v1?api-version=2024', 'https://api.example.com/v1?api-version=2024'],
    ['HTTPS://API.example.com/v1', 'HTTPS://API.example.com/v1'],
    // Pasted, or out of a file: as it stood, the blank would be in the path of every call.
    [' https://api.example.com/v1 ', 'https://api.example.com/v1'],
    ['https://api.example.com/v1/\n', 'https://api.example.com/v1'],
  ])('%j is %j', (text, url) => {
    expect(readBaseUrl(compatible, {}, text)).toBe(url)
  })

  it.each([
    ['', 'needs a base URL'],
    ['  ', 'needs a base URL'],
    ['api.example.com/v1', 'not an http or https address'],
    ['ftp://api.example.com', 'not an http or https address'],
    ['https://api.example.com/v 1', 'not an http or https address'],
    ['https://api.exam\nple.com/v1', 'not an http or https address'],
    ['https://api.example.com/\tv1', 'not an http or https address'],
    ['https://user@api.example.com', 'contains a credential'],
    ['https://:secret@api.example.com', 'contains a credential'],
    ['https://api.example.com/v1?key=abc', 'contains a credential: its parameter key'],
    ['https://api.example.com/v1?region=eu&api_key=abc', 'contains a credential: its parameter api_key'],
    ['https://api.example.com/v1?api_key=secret-1234', 'contains a credential'],
    ['https://api.example.com/v1#x', 'has a fragment'],
    ['http://169.254.169.254/latest', ''],
  ])('is not %j', (text, message) => {
    expect(() => readBaseUrl(compatible, {}, text)).toThrow(message)
  })

  it('is the vendor’s own where none is given, and none of a kind that answers by itself', () => {
    expect(readBaseUrl(openai, {}, undefined)).toBe(openai.defaultBaseUrl)
    const demo = kindOf('demo')
    expect(readBaseUrl(demo, {}, undefined)).toBe(demo.defaultBaseUrl)
    expect(() => readBaseUrl(demo, {}, 'https://a')).toThrow('answers by itself')
  })
})

describe('a credential', () => {
  it.each([
    ['https://a/v1', 'https://a/v1', false],
    ['https://a/v1', 'https://a/v2', false],
    ['https://a', 'https://A:443/v1', false],
    ['https://a', 'http://a', true],
    ['https://a', 'https://a:8443', true],
    ['https://a', 'https://a.b', true],
    ['no address', 'https://a', true],
    ['no address', 'no address', false],
  ])('of %s is elsewhere at %s: %j', (before, after, elsewhere) => {
    expect(isElsewhere(before, after)).toBe(elsewhere)
  })

  it.each([
    [{}, {}, false],
    [{ proxy: 'direct' }, { proxy: 'direct', organization: 'o' }, false],
    [{}, { proxy: 'http://p' }, true],
    [{ proxy: 'http://p' }, {}, true],
    [{ authorities: 'a' }, { authorities: 'b' }, true],
  ])('goes another way from %j to %j: %j', (before, after, other) => {
    expect(isOtherWay(before, after)).toBe(other)
  })
})

describe('the headers of a provider', () => {
  it.each([
    [{ 'x-team': 'search' }],
    [{ 'X-Custom.Header_1~': 'a\tb' }],
    [{ 'x-latin': 'Zürich' }],
    [{ 'x-empty': '' }],
    [{}],
  ])('may be %j', (headers) => {
    expect(checkHeaders(headers)).toBe(headers)
  })

  it.each([
    ['x team', 'a', 'not a header'],
    ['', 'a', 'not a header'],
    ['x-a', 'a\r\nx-b: c', 'not a header'],
    ['x-a', 'a\u0000', 'not a header'],
    ['x-a', '€', 'not a header'],
    ['Authorization', 'Bearer sk-1', 'contains a credential'],
    ['X-API-Key', 'sk-1', 'contains a credential'],
    ['cookie', 'a=b', 'contains a credential'],
    ['Host', 'a', 'is set by the gateway'],
    ['Content-Length', '1', 'is set by the gateway'],
    ['transfer-encoding', 'chunked', 'is set by the gateway'],
  ])('may not be %j: %j', (name, value, message) => {
    expect(() => checkHeaders({ 'x-fine': 'a', [name]: value })).toThrow(message)
  })
})

describe('the settings of a provider', () => {
  it('are those before with what was given, of which null takes one away', () => {
    const before = { organization: 'org', proxy: 'direct' }
    expect(readSettings(openai, before, {})).toEqual(before)
    expect(readSettings(openai, before, { organization: null })).toEqual({ proxy: 'direct' })
    expect(readSettings(openai, before, { organization: 'other' })).toEqual({ organization: 'other', proxy: 'direct' })
    expect(before).toEqual({ organization: 'org', proxy: 'direct' })
  })

  it('of another kind are refused, with those that there are', () => {
    const refusal = expect.objectContaining({ message: expect.stringContaining('has no --region') })
    expect(() => readSettings(openai, {}, { region: 'eu-west-1' })).toThrow(refusal)
  })

  it.each([
    ['proxy.example:3128', 'not an http or https address'],
    ['socks5://proxy:1080', 'not an http or https address'],
    ['http://user:secret@proxy:3128', 'contains a credential'],
    ['http://169.254.169.254', ''],
  ])('have no proxy %j', (proxy, message) => {
    expect(() => readSettings(openai, {}, { proxy })).toThrow(message)
  })

  it('have authorities as PEM, whatever a form or a shell made of its lines', () => {
    const pem = (rootCertificates[0] ?? '').trim()
    const one = readSettings(openai, {}, { authorities: pem }).authorities
    expect(String(one).replace(/\s/g, '')).toBe(pem.replace(/\s/g, ''))
    const flat = `some words ${pem.replaceAll('\n', ' ')} and more`
    expect(readSettings(openai, {}, { authorities: flat }).authorities).toBe(one)
    expect(readSettings(openai, {}, { authorities: `${pem}\n${pem}` }).authorities).toBe(`${one}${one}`)
    const broken = pem.replace('MII', 'MIX')
    for (const text of ['', 'nothing', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', broken])
      expect(() => readSettings(openai, {}, { authorities: text })).toThrow()
  })
})

it('names the kinds that there are to who asks for another', () => {
  expect(() => kindOf('opnai')).toThrow('There is no provider kind "opnai".')
})
