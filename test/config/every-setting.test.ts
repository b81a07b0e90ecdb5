import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadSettings, type SettingSources } from '../../src/config/load.ts'
import { SettingsRefused } from '../../src/config/settings-refused.ts'

function load(yaml: string, environment: Record<string, string> = {}, flags: SettingSources['flags'] = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'settings-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'config.yaml')
  writeFileSync(file, yaml)
  const settings = loadSettings({ file, environment, flags: { dataDir: join(directory, 'data'), ...flags } })
  return { settings, directory }
}

function problems(yaml: string, environment: Record<string, string> = {}): string[] {
  try {
    load(yaml, environment)
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    return error.problems.map(({ place, message }) => `${place.replace(/^.*config\.yaml/, 'config.yaml')}: ${message}`)
  }
  return []
}

const every = `
gateway:
  listen: 127.0.0.2:1
  tls: { cert: a.pem, key: a.key }
  url: https://gateway.example
  workers: 3
  body_limit: 1KB
  upload_limit: 2KB
  translate_limit: 3KB
  held_limit: 4KB
  timeouts: { connect: 1s, first_byte: 2s, between_chunks: 3s, total: 4s }
  drain_timeout: 5s
  drain_notice: 6s
  trusted_proxies: [10.0.0.0/8]
  cors_origins: ["*"]
  webrtc: allow
console:
  listen: 127.0.0.3:2
  tls: { cert: b.pem, key: /b.key }
  url: https://console.example
admin: { socket: admin.socket, socket_group: 100 }
log: { level: debug, format: text, requests: json }
records: { retention: 1d, bodies_retention: 1h, max_disk: 5GB, client_address: masked }
telemetry: { otlp_endpoint: https://otel.example/, headers: { x-a: b } }
backup: { schedule: 03:30, keep: 7, directory: copies }
cluster:
  postgres: postgres://a@db/b
  postgres_ca: pg.pem
  node: gw-a
  budgets: local
  limits: shared
  valkey: valkey://cache/1
  valkey_ca: vk.pem
  limits_without_valkey: refuse
  records: shared
  isolation_limit: 7s
seal: { machine_key_file: machine.key }
`

describe('settings', () => {
  it('of a file that says everything are all obeyed, and paths begin where the file is', () => {
    const { settings, directory } = load(every)
    const at = (name: string) => join(directory, name)
    const { digests, telemetry, ...rest } = settings
    expect(rest).toEqual({
      dataDirectory: at('data'),
      file: at('config.yaml'),
      gateway: {
        host: '127.0.0.2',
        port: 1,
        tls: { cert: at('a.pem'), key: at('a.key') },
        url: 'https://gateway.example',
        workers: 3,
        bodyLimit: 1000,
        uploadLimit: 2000,
        translateLimit: 3000,
        heldLimit: 4000,
        timeouts: { connect: 1000, firstByte: 2000, betweenChunks: 3000, total: 4000 },
        drainMs: 5000,
        drainNoticeMs: 6000,
        trustedProxies: ['10.0.0.0/8'],
        corsOrigins: ['*'],
        webrtc: true,
      },
      console: {
        host: '127.0.0.3',
        port: 2,
        tls: { cert: at('b.pem'), key: '/b.key' },
        url: 'https://console.example',
        metricsToken: null,
        oidc: null,
      },
      admin: { socket: at('admin.socket'), socketGroup: '100' },
      proxies: { http: null, https: null, except: '' },
      log: { level: 'debug', format: 'text', requests: true },
      records: { retentionMs: 86_400_000, bodiesRetentionMs: 3_600_000, mostBytes: 5e9, clientAddress: 'masked' },
      backup: { schedule: { minuteOfDay: 210 }, keep: 7, directory: at('copies') },
      cluster: {
        ...{ host: 'db', port: 5432, user: 'a', database: 'b', password: null, authority: at('pg.pem'), node: 'gw-a' },
        ...{ sharesBudgets: false, records: 'shared', isolationMs: 7000 },
        valkey: {
          ...{ host: 'cache', port: 6379, user: null, database: 1, password: null, authority: at('vk.pem') },
          without: 'refuse',
        },
      },
      machineKeyFile: at('machine.key'),
    })
    expect(telemetry?.endpoint).toBe('https://otel.example')
    expect(new Set(Object.values(digests)).size).toBeGreaterThan(35)
  })

  it('that say as little as they may have the rest by themselves', () => {
    const { settings, directory } = load(
      'cluster: { postgres: "postgres://a@db/b", limits: shared, valkey: "redis://cache", records: local }\nbackup: { schedule: 6h }',
    )
    expect(settings.cluster).toMatchObject({ authority: null, node: null, sharesBudgets: true, isolationMs: null })
    expect(settings.cluster?.valkey).toMatchObject({ authority: null, without: 'share' })
    expect(settings.backup).toEqual({
      schedule: { everyMs: 21_600_000 },
      keep: null,
      directory: join(directory, 'data/backups'),
    })
    expect(settings.admin).toEqual({ socket: join(directory, 'data/admin.sock'), socketGroup: null })
    expect([settings.telemetry, settings.machineKeyFile]).toEqual([null, null])
  })

  it('of a section that is not there are none, whatever else stands in it', () => {
    const { settings } = load('telemetry: { headers: { a: b } }\nbackup: { keep: 3 }\ncluster: { node: a }')
    expect([settings.telemetry, settings.backup, settings.cluster]).toEqual([null, null, null])
    const limits = 'limits: local, valkey: "redis://cache", records: local'
    expect(load(`cluster: { postgres: "postgres://a@db/b", ${limits} }`).settings.cluster?.valkey).toBeNull()
  })

  it('are told by a flag where the console listens, before a variable', () => {
    const environment = { SPGW_CONSOLE_LISTEN: '127.0.0.1:2' }
    expect(load('', environment, { consoleListen: '127.0.0.1:3' }).settings.console.port).toBe(3)
    expect(() => load('', environment, { consoleListen: 'here' })).toThrow(
      /^--console-listen: console\.listen: expected/,
    )
  })
})

describe('a cluster', () => {
  it.each([
    ['valkey: "redis://cache"', ['valkey: expected cluster.postgres with it']],
    ['postgres: "postgres://a@db/b"', ['limits: expected local', 'records: expected shared']],
    ['postgres: "postgres://a@db/b", limits: shared, records: local', ['valkey: expected the address']],
    ['postgres: "postgres://a@db/b", limits: local', ['records: expected shared']],
    ['postgres: "postgres://a@db/b", limits: local, records: local', []],
  ])('with { %s } must say what it leaves open', (cluster, told) => {
    const found = problems(`cluster: { ${cluster} }`)
    expect(found).toEqual(told.map((each) => expect.stringContaining(`: cluster.${each}`)))
  })
})

describe('a secret', () => {
  const cluster = (password: string) =>
    `cluster: { postgres: "postgres://a@db/b", limits: local, records: local, postgres_password: '${password}' }`

  it.each([
    ['a word', 'canary', 'canary'],
    ['a variable', '$' + '{SECRET}', 'from a variable'],
    ['text with a variable in it', 'a-$' + '{SECRET}', 'a-$' + '{SECRET}'],
  ])('as %s is read, and never shown', (_what, written, meant) => {
    const { settings } = load(cluster(written), { SECRET: 'from a variable' })
    expect(settings.cluster?.password?.reveal()).toBe(meant)
    expect(JSON.stringify(settings)).not.toContain(meant)
  })

  it.each<Record<string, string>>([{}, { SECRET: '' }])(
    'that stands in a variable which is not set is refused: %j',
    (environment) => {
      expect(problems(cluster('$' + '{SECRET}'), environment)).toEqual([
        'config.yaml:1:74: the variable SECRET is not set',
      ])
    },
  )
})

describe('a header of telemetry', () => {
  const header = (value: string) => `telemetry: { otlp_endpoint: https://otel.example, headers: { a: '${value}' } }`
  const environment = { ONE: '1', TWO: '2', BAD: 'a\nb' }

  it.each([
    ['Bearer $' + '{ONE}', 'Bearer 1'],
    ['$' + '{ONE} and $' + '{TWO}', '1 and 2'],
    ['$$' + '{ONE}', '$' + '{ONE}'],
  ])('%s is sent as %s', (written, sent) => {
    expect(load(header(written), environment).settings.telemetry?.headers.a?.reveal()).toBe(sent)
  })

  it('is refused where a variable is not set, or holds what no header can', () => {
    expect(problems(header('$' + '{NONE}'), environment).join()).toMatch(/: the variable NONE is not set$/)
    const told = problems(header('$' + '{BAD}'), environment).join()
    expect(told).toMatch(/^config\.yaml:1:\d+: a header holds characters that no header can have$/)
  })
})
