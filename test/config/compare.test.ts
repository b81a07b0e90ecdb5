import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { compareSettings } from '../../src/config/compare.ts'
import { loadSettings } from '../../src/config/load.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'compare-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function load(yaml: string) {
  writeFileSync(join(directory, 'config.yaml'), yaml)
  return loadSettings({ environment: {}, flags: { dataDir: directory } })
}

const cluster = 'cluster: { postgres: "postgres://a@db/b", limits: shared, valkey: "valkey://cache", records: local }'
const both = (yaml: string) => `${cluster}\n${yaml}`

describe('settings that were read again', () => {
  it('change nothing when they say the same in other words', () => {
    const { applied, waiting } = compareSettings(load(''), load('gateway: { body_limit: 100000KB }'))
    expect([...applied, ...waiting]).toEqual([])
  })

  it('apply, but for what is bound or started once, which waits', () => {
    const current = load('gateway: { workers: 1 }')
    const next = load(
      'gateway: { workers: 2, listen: "127.0.0.1:1", timeouts: { total: 1m } }\nconsole: { listen: "127.0.0.1:2", metrics_token: other }\nadmin: { socket: /run/x.sock }',
    )
    const { settings, applied, waiting } = compareSettings(current, next)
    expect(applied).toEqual(['gateway.timeouts.total', 'console.metrics_token'])
    expect(waiting).toEqual(['gateway.listen', 'gateway.workers', 'console.listen', 'admin.socket'])
    expect(settings.gateway).toMatchObject({ workers: 1, port: 8787, timeouts: { total: 60_000 } })
    expect(settings.console).toMatchObject({ port: 8788 })
    expect(settings.console.metricsToken?.reveal()).toBe('other')
    expect(settings.admin).toEqual(current.admin)
  })

  it.each([
    ['admin: { socket_group: 7 }', 'admin.socket_group'],
    ['seal: { machine_key_file: /other.key }', 'seal.machine_key_file'],
    [cluster.replace('a@', 'b@'), 'cluster.postgres'],
    [cluster.replace('}', ', node: other }'), 'cluster.node'],
    [cluster.replace('}', ', budgets: local }'), 'cluster.budgets'],
    [cluster.replace('}', ', isolation_limit: 1m }'), 'cluster.isolation_limit'],
    [cluster.replace('}', ', limits_without_valkey: local }'), 'cluster.limits_without_valkey'],
  ])('that %s wait for a restart, and until then all is as it was', (yaml, name) => {
    const current = load(cluster)
    const { settings, applied, waiting } = compareSettings(current, load(yaml.startsWith('c') ? yaml : both(yaml)))
    expect([applied, waiting]).toEqual([[], [name]])
    expect(settings).toEqual(current)
  })

  it('go on waiting with every reload, until they are as they were', () => {
    const one = compareSettings(load(''), load('gateway: { workers: 2 }'))
    const two = compareSettings(one.settings, load('gateway: { workers: 2, body_limit: 1MB }'))
    expect([two.applied, two.waiting]).toEqual([['gateway.body_limit'], ['gateway.workers']])
    expect(compareSettings(two.settings, load('gateway: { body_limit: 1MB }')).waiting).toEqual([])
  })

  it('name other certificates at once, but neither begin nor cease to speak TLS', () => {
    const first = load('gateway: { tls: { cert: a.pem, key: a.key } }')
    const other = compareSettings(first, load('gateway: { tls: { cert: b.pem, key: b.key } }'))
    expect([other.applied, other.waiting]).toEqual([['gateway.tls.cert', 'gateway.tls.key'], []])
    expect(other.settings.gateway.tls).toEqual({ cert: join(directory, 'b.pem'), key: join(directory, 'b.key') })
    const off = compareSettings(first, load('gateway: { url: "https://a.example" }'))
    expect([off.applied, off.waiting]).toEqual([['gateway.url'], ['gateway.tls.cert', 'gateway.tls.key']])
    expect(off.settings.gateway.tls).toEqual(first.gateway.tls)
    expect(compareSettings(load(''), first).settings.gateway.tls).toBeNull()
  })

  it('hold no secret in what tells whether they changed', () => {
    const { digests } = load('console: { metrics_token: canary-value }')
    expect(JSON.stringify(digests)).not.toContain('canary')
  })
})
