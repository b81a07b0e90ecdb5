import { describe, expect, it } from 'vitest'
import { Secret } from '../../src/core/secrets/secret.ts'
import type { ProviderKind } from '../../src/providers/contract.ts'
import { credentialProblem, openCredential } from '../../src/providers/credential.ts'
import { egressOf } from '../../src/providers/egress.ts'
import { findKind } from '../../src/providers/index.ts'

const pem = {
  client_certificate: '-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----',
  client_key: '-----BEGIN EC PRIVATE KEY-----\nB\n-----END EC PRIVATE KEY-----',
}
const identity = { certificate: pem.client_certificate, key: pem.client_key }
const open = (value: unknown) => {
  const { own, identity: found } = openCredential(new Secret(typeof value === 'string' ? value : JSON.stringify(value)))
  return [own?.reveal() ?? null, found]
}

describe('a stored credential', () => {
  it.each([
    ['sk-word', ['sk-word', null]],
    [{ a: 'b' }, ['{"a":"b"}', null]],
    [{ credential: 'sk-word', ...pem }, ['sk-word', identity]],
    [{ a: 'b', ...pem }, ['{"a":"b"}', identity]],
    [pem, [null, identity]],
    ['{broken', ['{broken', null]],
  ])('%j is taken apart', (value, wanted) => {
    expect(open(value)).toEqual(wanted)
  })

  it('fits its kind, with or without a client certificate', () => {
    const problem = (kind: string, value: unknown) =>
      credentialProblem(
        findKind(kind) as ProviderKind,
        new Secret(typeof value === 'string' ? value : JSON.stringify(value)),
      )
    for (const good of ['sk-word', { credential: 'sk-word', ...pem }, pem]) expect(problem('openai', good)).toBeNull()
    expect(problem('openai', { a: 'b' })?.problem).toMatch(/not a credential of the kind openai/)
    expect(problem('openai', { credential: 'sk-word', ...pem, client_key: 'x' })?.problem).toMatch(/no PEM key/)
    expect(problem('vertex', { client_email: 'a', private_key: 'b', ...pem })).toBeNull()
    expect(problem('vertex', { client_email: 'a', private_key: '' })?.hint).toMatch(/private_key/)
  })
})

describe('the way out of a provider', () => {
  it('is the usual one, null, unless something is said', () => {
    expect(egressOf({}, null)).toBeNull()
    expect(egressOf({ organization: 'org-1', allow_private: false }, null)).toBeNull()
  })

  it('has one key for one way, and another for each other', () => {
    const keys = [
      egressOf({ proxy: 'direct' }, null),
      egressOf({ proxy: 'http://p:1' }, null),
      egressOf({ authorities: 'A' }, null),
      egressOf({ allow_private: true }, null),
      egressOf({}, identity),
      egressOf({}, { ...identity, key: 'other' }),
    ].map((options) => options?.key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(egressOf({ proxy: 'http://p:1' }, null)?.key).toBe(keys[1])
  })
})
