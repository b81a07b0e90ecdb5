import { describe, expect, it } from 'vitest'
import { mintGatewayKey } from '../../src/core/secrets/gateway-key.ts'
import { findCredential, unknownKeyFault } from '../../src/gateway/request/credentials.ts'

const key = mintGatewayKey()

describe('where a key is found', () => {
  it.each([
    ['bearer', { authorization: `Bearer ${key}` }, ''],
    ['bearer in odd case', { authorization: `bearer  ${key}` }, ''],
    ['x-api-key', { 'x-api-key': key }, ''],
    ['api-key', { 'api-key': key }, ''],
    ['x-goog-api-key', { 'x-goog-api-key': key }, ''],
    ['query key', {}, `?alt=sse&key=${key}`],
    ['query access_token', {}, `?access_token=${key}`],
    ['socket protocol', { 'sec-websocket-protocol': `realtime, openai-insecure-api-key.${key}` }, ''],
    ['the same in two places', { authorization: `Bearer ${key}`, 'x-api-key': key }, `?key=${key}`],
  ])('%s', (_name, headers, query) => {
    expect(findCredential(headers, query)).toBe(key)
  })

  it('refuses two different ones rather than guess', () => {
    const found = findCredential({ authorization: `Bearer ${key}`, 'x-api-key': mintGatewayKey() }, '')
    expect(found).toMatchObject({ code: 'conflicting_credentials' })
  })

  it('says when there is none', () => {
    expect(findCredential({}, '?alt=sse')).toMatchObject({ code: 'missing_key' })
    expect(findCredential({ authorization: 'Bearer ' }, '')).toMatchObject({ code: 'missing_key' })
  })
})

describe('what a credential looks like', () => {
  it.each(['sk-proj-abc', 'sk-ant-api03-abc', 'AIzaSyAbc'])("knows a provider's own: %s", (credential) => {
    const refused = unknownKeyFault(credential)
    expect(refused).toMatchObject({ code: 'provider_key_rejected' })
    expect(JSON.stringify(refused)).not.toContain(credential)
  })

  it('tells a typing error from an unknown key', () => {
    const last = key.at(-1) === 'A' ? 'B' : 'A'
    expect(unknownKeyFault(key.slice(0, -1) + last)).toMatchObject({
      code: 'invalid_key',
      message: expect.stringContaining('mistyped'),
    })
    expect(unknownKeyFault(key).message).toContain('No such gateway key')
  })
})
