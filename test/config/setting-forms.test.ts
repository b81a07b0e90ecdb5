import { describe, expect, it } from 'vitest'
import { safeParse } from 'zod/mini'
import {
  address,
  choice,
  count,
  duration,
  group,
  headers,
  issuer,
  networks,
  origins,
  path,
  pause,
  postgresUrl,
  roles,
  schedule,
  size,
  sizeOrAuto,
  url,
  valkeyUrl,
  words,
  workers,
} from '../../src/config/setting-forms.ts'

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

  it('of an identity provider is http on this machine only', () => {
    for (const given of ['http://localhost:9000/main', 'http://127.0.0.1', 'http://[::1]:9000'])
      expect(read(issuer, given)).toBe(given)
    expect(read(issuer, 'http://login.example.com')).toBe('refused')
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
  expect(['12', 1, 10_000, 0, '0', 10_001, 1.5, '1e3', ''].map((value) => read(count, value))).toEqual([
    12,
    1,
    10_000,
    ...Array(6).fill('refused'),
  ])
})

describe('each form takes what it says, and nothing beside it', () => {
  it.each<[string, Form, taken: [given: unknown, read: unknown][], refused: unknown[]]>([
    [
      'an address',
      address,
      [
        [' [::1]:0 ', { host: '::1', port: 0 }],
        ['gateway:65535', { host: 'gateway', port: 65_535 }],
      ],
      ['gateway:65536', '::1:8787', '[gateway]:1', 'gateway', ':8787', 'a b:1', 8787],
    ],
    ['a duration', duration, [[' 1ms ', 1]], ['0s', '5', 5]],
    ['a pause', pause, [['0s', 0]], ['', 0]],
    ['a size', size, [['2GiB', 2 ** 31]], ['0B', '1TB', 1]],
    ['a size or auto', sizeOrAuto, [['auto', 'auto']], ['0KB', 'Auto']],
    ['workers', workers, [['auto', 'auto']], [0, 257, '257', '2.5', 1.5]],
    ['workers', workers, [[1, 1]], []],
    ['workers', workers, [['256', 256]], []],
    [
      'a URL',
      url,
      [
        ['https://a.example//', 'https://a.example'],
        ['HTTP://A.example/x/', 'http://a.example/x'],
      ],
      ['https://a.example/?q=1', 'https://a.example/#x', 'file:///etc', 'a.example'],
    ],
    ['an issuer', issuer, [[' https://a.example/ ', 'https://a.example/']], ['https://a.example/?q', 'a.example']],
    [
      'origins',
      origins,
      [
        [
          ['https://a.example', '*'],
          ['https://a.example', '*'],
        ],
      ],
      ['https://a.example/', ['*', 7], { a: '*' }],
    ],
    [
      'networks',
      networks,
      [['10.0.0.0/32, ::1/128, ::', ['10.0.0.0/32', '::1/128', '::']]],
      ['10.0.0.0/33', '::1/129', '10.0.0.0/8/8', '10.0.0.0/', 'host/8'],
    ],
    ['a choice', choice(['a', 'b']), [['b', 'b']], ['B', null]],
    ['words', words, [['a, b', ['a', 'b']]], ['a,,b', '']],
    ['a path', path, [[' /a b ', '/a b']], ['  ', 7]],
    ['a group', group, [[0, '0']], [true]],
    ['roles', roles, [[{ a: 'owner@x' }, { a: [{ role: 'owner', project: 'x' }] }]], [{ a: 'Owner' }, { a: 'owner@' }]],
    [
      'headers',
      headers,
      [[{ 'X-Team': ' platform ' }, { 'x-team': 'platform' }]],
      [{ 'x team': 'a' }, { 'x-team': 'plät' }, { 'x-team': 7 }],
    ],
    [
      'the address of Valkey',
      valkeyUrl,
      [['valkey://spgw@cache:1/999', { host: 'cache', port: 1, user: 'spgw', database: 999 }]],
      ['redis://cache/1000', 'redis://cache?db=1', 'rediss://cache', 'redis:///1'],
    ],
    [
      'the address of PostgreSQL',
      postgresUrl,
      [['postgres://a@db:1/b', { host: 'db', port: 1, user: 'a', database: 'b' }]],
      ['postgres://db/b', 'postgres://a@db/b#c', 'mysql://a@db/b'],
    ],
    ['a schedule', schedule, [['23:59', { minuteOfDay: 1439 }]], ['3:30', '59999ms']],
    ['a schedule', schedule, [['1m', { everyMs: 60_000 }]], []],
  ])('%s', (_what, form, taken, refused) => {
    expect(taken.map(([given]) => [given, read(form, given)])).toEqual(taken)
    expect(refused.filter((given) => read(form, given) !== 'refused')).toEqual([])
  })
})
