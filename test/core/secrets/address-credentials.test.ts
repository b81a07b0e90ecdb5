import { describe, expect, it } from 'vitest'
import { credentialParameters, hideCredentials } from '../../../src/core/secrets/address-credentials.ts'

describe('a credential in an address', () => {
  it.each([
    ['https://a.example/v1?key=abc', ['key'], 'https://a.example/v1?key=…'],
    ['https://a.example?region=eu&api_key=a%20b', ['api_key'], 'https://a.example?region=eu&api_key=…'],
    [
      'https://a.example/?Ocp-Apim-Subscription-Key=x',
      ['Ocp-Apim-Subscription-Key'],
      'https://a.example/?Ocp-Apim-Subscription-Key=…',
    ],
    ['https://a.example/f?code=x&sig=y', ['code', 'sig'], 'https://a.example/f?code=…&sig=…'],
  ])('is found in %s', (address, names, hidden) => {
    expect(credentialParameters(address)).toEqual(names)
    expect(hideCredentials(address)).toBe(hidden)
  })

  it('is nothing else that stands in a query', () => {
    for (const address of [
      'https://a.example/v1',
      'https://a/v1?api-version=2024&keyspace=x',
      'https://a?key=',
      '?key=x',
    ])
      expect([credentialParameters(address), hideCredentials(address)]).toEqual([[], address])
  })
})
