import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadSettings, type SettingSources } from '../../src/config/load.ts'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { SettingsRefused } from '../../src/config/settings-refused.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'settings-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

function load(yaml: string, more: Partial<SettingSources> = {}) {
  const file = join(directory, 'config.yaml')
  writeFileSync(file, yaml)
  return loadSettings({ file, environment: {}, flags: { dataDir: directory }, ...more })
}

function problems(yaml: string, more: Partial<SettingSources> = {}): string[] {
  try {
    load(yaml, more)
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    return error.problems.map((problem) => `${problem.place.replace(`${directory}/`, '')}: ${problem.message}`)
  }
  return []
}

describe('order of sources', () => {
  const yaml = 'gateway: { listen: "127.0.0.1:1", workers: 2 }\nlog: { level: warn }'
  const environment = { SPGW_GATEWAY_LISTEN: '127.0.0.1:2', SPGW_GATEWAY_WORKERS: '3' }

  it('lets a flag beat the environment, and the environment the file', () => {
    const settings = load(yaml, { environment, flags: { dataDir: directory, listen: '127.0.0.1:3' } })
    expect([settings.gateway.port, settings.gateway.workers, settings.log.level]).toEqual([3, 3, 'warn'])
  })

  it('takes config.yaml of the data directory when no file is named', () => {
    writeFileSync(join(directory, 'config.yaml'), yaml)
    expect(loadSettings({ environment: {}, flags: { dataDir: directory } }).gateway.port).toBe(1)
  })

  it('has defaults without any file, but refuses a named file that is not there', () => {
    expect(loadSettings({ environment: {}, flags: { dataDir: directory } }).gateway.port).toBe(8787)
    const missing = { file: join(directory, 'other.yaml'), environment: {}, flags: { dataDir: directory } }
    expect(() => loadSettings(missing)).toThrow(/other\.yaml: there is no such file/)
  })

  it('counts an empty variable and an empty setting as not set', () => {
    expect(load('gateway:\n  listen:\n', { environment: { SPGW_GATEWAY_LISTEN: '' } }).gateway.port).toBe(8787)
  })
})

describe('refusals', () => {
  it('names file, line, column and the closest known setting', () => {
    expect(problems('gateway:\n  workerz: 3\n')).toEqual([
      'config.yaml:2:3: unknown setting gateway.workerz; did you mean gateway.workers?',
    ])
    expect(problems('gateways: {}')).toEqual(['config.yaml:1:1: unknown setting gateways; did you mean gateway?'])
    expect(problems('listen: x')).toEqual(['config.yaml:1:1: unknown setting listen; did you mean gateway.listen?'])
  })

  it('tells of every problem at once', () => {
    expect(problems('log:\n  level: loud\nrecords:\n  retention: soon\n')).toHaveLength(2)
  })

  it.each([
    ['gateway: { listen: 8787 }', 'gateway.listen'],
    ['gateway: { listen: "127.0.0.1:99999" }', 'gateway.listen'],
    ['gateway: { workers: 0 }', 'gateway.workers'],
    ['gateway: { workers: 1.5 }', 'gateway.workers'],
    ['gateway: { body_limit: 100 }', 'gateway.body_limit'],
    ['gateway: { timeouts: 5s }', 'gateway.timeouts'],
    ['gateway: { timeouts: { total: 0s } }', 'gateway.timeouts.total'],
    ['gateway: { trusted_proxies: [10.0.0.0/33] }', 'gateway.trusted_proxies'],
    ['gateway: { cors_origins: ["https://a.example/path"] }', 'gateway.cors_origins'],
    ['gateway: { url: "ftp://a" }', 'gateway.url'],
    ['gateway: { drain_timeout: 0s }', 'gateway.drain_timeout'],
    ['gateway: { tls: { cert: a.pem } }', 'gateway.tls.key'],
    ['console: { tls: { key: a.key } }', 'console.tls.cert'],
  ])('refuses %s', (yaml, setting) => {
    expect(problems(yaml)).toEqual([expect.stringContaining(`: ${setting}: expected `)])
  })

  it('names the variable or flag that is wrong', () => {
    expect(problems('', { environment: { SPGW_LOG_LEVEL: 'loud' } })[0]).toMatch(
      /^SPGW_LOG_LEVEL: log\.level: expected/,
    )
    expect(problems('', { flags: { dataDir: directory, listen: 'here' } })[0]).toMatch(
      /^--listen: gateway\.listen: expected/,
    )
  })

  it('refuses a mistyped variable, and passes over those that Kubernetes makes', () => {
    expect(problems('', { environment: { SPGW_LOG_LEVLE: 'info' } })).toEqual([
      'SPGW_LOG_LEVLE: unknown setting; did you mean SPGW_LOG_LEVEL?',
    ])
    const links = {
      SPGW_GATEWAY_SERVICE_HOST: '10.0.0.1',
      SPGW_GATEWAY_PORT_8787_TCP_ADDR: '10.0.0.1',
      SPGW_GATEWAY_PORT: 'tcp://10.0.0.1:8787',
      SPGW_PORT: 'tcp://a',
    }
    expect(problems('', { environment: links })).toEqual([])
    expect(problems('', { environment: { SPGW_GATEWAY_PORT: '8080' } })[0]).toMatch(
      /^SPGW_GATEWAY_PORT: unknown setting/,
    )
  })

  it('refuses what is no YAML, with its line', () => {
    expect(problems('gateway:\n  listen: "unclosed\n')[0]).toMatch(/^config\.yaml:\d+:\d+: /)
    expect(problems('- a\n- b\n')[0]).toMatch(/^config\.yaml:1:1: expected settings/)
    expect(problems('gateway: {}\ngateway: {}\n')[0]).toMatch(/^config\.yaml:2:1: /)
  })

  it('names each line that says a thing again, in sections too', () => {
    const text = 'log:\n  level: info\nconsole:\n  url: http://a\n  url: http://b\nlog:\n  format: json\n'
    expect(() => parseSettingsFile(text, 'config.yaml')).toThrow(/config\.yaml:5:3.*[\s\S]*config\.yaml:6:1/)
  })

  it('is done soon with a file of tens of thousands of names', () => {
    // Compared each with each these are 1,800,000,000 pairs: the test's limit is the measure.
    const text = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1\n`).join('')
    expect(Object.keys(parseSettingsFile(text, 'config.yaml').tree)).toHaveLength(60_000)
  })

  it('never shows a value', () => {
    expect(problems('console: { metrics_token: [canary-value] }').join()).not.toContain('canary')
    expect(problems('', { environment: { SPGW_GATEWAY_URL: 'https://u:canary@a' } }).join()).not.toContain('canary')
  })
})

describe('what comes out', () => {
  it('is frozen to the bottom', () => {
    const settings = load('')
    expect(Object.isFrozen(settings)).toBe(true)
    expect(Object.isFrozen(settings.gateway.timeouts)).toBe(true)
    expect(Object.isFrozen(settings.gateway.corsOrigins)).toBe(true)
  })

  it('allows resources beside the settings', () => {
    expect(problems('providers: [{ name: a }]\nroutes: []\nkeys: {}\nprojects: {}\npolicies: {}')).toEqual([])
  })

  it('takes lists from YAML and comma-separated from a variable', () => {
    expect(load('gateway: { trusted_proxies: ["10.0.0.0/8", "::1"] }').gateway.trustedProxies).toEqual([
      '10.0.0.0/8',
      '::1',
    ])
    const environment = { SPGW_GATEWAY_CORS_ORIGINS: 'https://a.example, https://b.example' }
    expect(load('', { environment }).gateway.corsOrigins).toEqual(['https://a.example', 'https://b.example'])
  })

  it('hides the metrics token', () => {
    const settings = load('console: { metrics_token: canary }')
    expect(JSON.stringify(settings)).not.toContain('canary')
    expect(settings.console.metricsToken?.reveal()).toBe('canary')
  })

  it('resolves a path in the file against the file, and one in a variable against the working directory', () => {
    mkdirSync(join(directory, 'keys'))
    expect(load('seal: { machine_key_file: keys/a }').machineKeyFile).toBe(join(directory, 'keys/a'))
    expect(load('', { environment: { SPGW_MACHINE_KEY_FILE: 'keys/b' } }).machineKeyFile).toBe(
      join(process.cwd(), 'keys/b'),
    )
  })

  it('takes an IPv6 address out of its brackets', () => {
    expect(load('gateway: { listen: "[::1]:8787" }').gateway.host).toBe('::1')
  })
})
