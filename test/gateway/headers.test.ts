import { describe, expect, it } from 'vitest'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { headersDown, headersUp } from '../../src/gateway/upstream/headers.ts'

const mintedKey = mintGatewayKey()

function pairs(flat: readonly string[]): Record<string, string> {
  const result: Record<string, string> = {}
  for (let index = 0; index + 1 < flat.length; index += 2) result[flat[index]!] = flat[index + 1]!
  return result
}

describe('headers to the provider', () => {
  const key = 'sp_live_secret'
  const up = (raw: string[], own: [string, string][] = [], defaults: [string, string][] = []) =>
    pairs(headersUp(raw, key, own, defaults))

  it.each([
    ['in a name', [mintedKey, 'x']],
    ['in part of a name', [`x-${mintedKey.toUpperCase()}-y`, 'x']],
    ['in a value, that of another key', ['x-note', `key ${mintedKey}`]],
    ['in a value, percent-encoded', ['x-note', `%73p_live_${mintedKey.slice(8)}`]],
  ])('leaves out a gateway key %s', (_how, raw) => {
    for (const presented of [key, mintedKey, null])
      expect(headersUp([...raw, 'x-other', 'y'], presented, [], [])).toEqual([
        'x-other',
        'y',
        'accept-encoding',
        'identity',
      ])
  })

  it('passes what it does not know', () => {
    const raw = ['X-New-Thing', 'yes', 'anthropic-beta', 'a,b', 'User-Agent', 'OpenAI/JS 7', 'X-Stainless-Lang', 'js']
    expect(up(raw)).toMatchObject({
      'x-new-thing': 'yes',
      'anthropic-beta': 'a,b',
      'user-agent': 'OpenAI/JS 7',
      'x-stainless-lang': 'js',
    })
  })

  it.each([
    'Authorization',
    'X-Api-Key',
    'api-key',
    'x-goog-api-key',
    'Cookie',
    'Host',
    'Content-Length',
    'Connection',
    'TE',
    'Transfer-Encoding',
    'X-Forwarded-For',
    'x-sp-tag',
    'OpenAI-Organization',
    'Range',
    'X-Goog-FieldMask',
    'X-HTTP-Method-Override',
    'x_http_method_override',
    'X_Api_Key',
    'x_forwarded-for',
    'x_sp_tag',
    'X-HTTP-Method-Override',
  ])('keeps %s here', (name) => {
    expect(up([name, 'value'])).toEqual({ 'accept-encoding': 'identity' })
  })

  it('never lets the gateway key up, whatever header it stands in', () => {
    expect(up(['X-Debug', `token ${key}`])).toEqual({ 'accept-encoding': 'identity' })
  })

  it('drops what each of several Connection headers names', () => {
    const headers = ['Connection', 'X-One', 'Connection', 'close', 'Connection', 'X-Two, X-Three']
    expect(up([...headers, 'X-One', '1', 'X-Two', '2', 'X-Three', '3'])).toEqual({ 'accept-encoding': 'identity' })
  })

  it('drops what the Connection header names', () => {
    expect(up(['Connection', 'close, X-Hop', 'X-Hop', '1', 'X-Stay', '2'])).toEqual({
      'x-stay': '2',
      'accept-encoding': 'identity',
    })
  })

  it("puts the provider's own in place of the client's, and defaults only where there is none", () => {
    expect(
      up(
        ['X-Own', 'client', 'anthropic-version', 'client'],
        [['x-own', 'provider']],
        [['anthropic-version', 'default']],
      ),
    ).toEqual({
      'x-own': 'provider',
      'anthropic-version': 'client',
      'accept-encoding': 'identity',
    })
    expect(up([], [], [['anthropic-version', 'default']])['anthropic-version']).toBe('default')
  })
})

describe('headers to the client', () => {
  it("keeps the provider's identity and its front's headers here", () => {
    const raw = [
      'openai-organization',
      'org-1',
      'set-cookie',
      'a=b',
      'cf-ray',
      '1',
      'server',
      'x',
      'via',
      'y',
      'x-envoy-upstream',
      '1',
      'anthropic-organization-id',
      'z',
      'x-sp-request-id',
      'forged',
    ]
    expect(headersDown(raw, null)).toEqual([])
  })

  it('passes ids, rate limits and unknown headers', () => {
    const raw = [
      'x-request-id',
      'r',
      'request-id',
      's',
      'x-ratelimit-limit-requests',
      '5',
      'anthropic-ratelimit-tokens-remaining',
      '6',
      'content-type',
      'application/json',
      'x-new',
      'yes',
    ]
    expect(headersDown(raw, null)).toEqual(raw)
  })

  it("says the route's wait, not one target's", () => {
    expect(headersDown(['retry-after', '7200', 'retry-after-ms', '1'], 60_000)).toEqual(['retry-after', '60'])
    expect(headersDown(['retry-after', '3'], null)).toEqual([])
  })
})
