import { describe, expect, it } from 'vitest'
import { safeParse } from 'zod/mini'
import { count, headers, issuer, postgresUrl, roles, schedule, url, valkeyUrl } from '../../src/config/setting-forms.ts'

type Form = Parameters<typeof safeParse>[0]

/** What a form reads; 'refused' with no exception, whatever it is given. */
const read = (form: Form, value: unknown) => {
  const result = safeParse(form, value)
  return result.success ? result.data : 'refused'
}

describe('a mapping in an environment variable', () => {
  it('is read pair by pair, and a header to its first equals sign', () => {
    expect(read(headers, 'Authorization=Basic dXNlcg==,x-team=platform')).toEqual({
      authorization: 'Basic dXNlcg==',
      'x-team': 'platform',
    })
    expect(read(roles, 'cn=admins=owner,staff=viewer@a admin@b')).toEqual({
      'cn=admins': [{ role: 'owner', project: null }],
      staff: [
        { role: 'viewer', project: 'a' },
        { role: 'admin', project: 'b' },
      ],
    })
  })

  it.each([
    ['headers without a value', headers, 'authorization'],
    ['headers of which one has none', headers, 'x-team=platform,authorization'],
    ['roles without a name', roles, 'owner'],
    ['roles of which one has none', roles, 'staff=viewer,owner'],
    ['headers without a name', headers, '=platform'],
    ['roles with an empty name', roles, '=owner'],
  ])('is refused: %s', (_what, form, text) => {
    expect(read(form, text)).toBe('refused')
  })

  it.each([
    ['a number', 5],
    ['a switch', true],
    ['a list', ['owner']],
  ])('is no %s', (_what, value) => {
    expect([read(headers, value), read(roles, value)]).toEqual(['refused', 'refused'])
  })

  it('may be empty', () => {
    expect([read(headers, {}), read(roles, null)]).toEqual([{}, {}])
  })
})

describe('a URL', () => {
  it('has no password, with or without a user', () => {
    for (const form of [url, issuer])
      for (const user of ['somebody', 'somebody:secret', ':secret'])
        expect(read(form, `https://${user}@gateway.example.com`)).toBe('refused')
    expect(read(postgresUrl, 'postgres://spgw:secret@db/spgw')).toBe('refused')
    expect(read(valkeyUrl, 'valkey://:secret@cache')).toBe('refused')
  })

  it('of a database is refused where it is not written as a URL is', () => {
    expect(read(postgresUrl, 'postgres://sp%zzgw@db/spgw')).toBe('refused')
    expect(read(postgresUrl, 'postgres://spgw@db/sp%zzgw')).toBe('refused')
    expect(read(valkeyUrl, 'valkey://sp%zzgw@cache')).toBe('refused')
  })

  it('of a database is taken apart, with the usual port and a socket too', () => {
    const place = { port: 5432, user: 'sp gw', database: 'spgw' }
    expect(read(postgresUrl, 'postgres://sp%20gw@[::1]/spgw')).toEqual({ ...place, host: '::1' })
    expect(read(postgresUrl, 'postgresql://sp%20gw@/spgw?host=/run/pg')).toEqual({ ...place, host: '/run/pg' })
    for (const wrong of ['@/spgw', '@db/spgw?host=/run/pg', '@/spgw?host=run/pg', '@db/spgw?sslmode=disable', '@db/'])
      expect(read(postgresUrl, `postgres://spgw${wrong}`), wrong).toBe('refused')
    expect(read(valkeyUrl, 'redis://cache/3')).toEqual({ host: 'cache', port: 6379, user: null, database: 3 })
    expect(read(valkeyUrl, 'valkey://cache/three')).toBe('refused')
  })
})

it('backups run at intervals of a minute at least, or at a time of day', () => {
  expect(['6h', '03:30', '59s', '24:00', 210].map((value) => read(schedule, value))).toEqual([
    { everyMs: 21_600_000 },
    { minuteOfDay: 210 },
    'refused',
    'refused',
    'refused',
  ])
})

it('a count is a whole number within its bounds, as text too', () => {
  expect(['12', 12, 0, '0', 10_001, 1.5, '1e3', ''].map((value) => read(count, value))).toEqual([
    12,
    12,
    ...Array(6).fill('refused'),
  ])
})
