import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { catalog } from '../../cli/catalog.ts'
import { loadSettings } from '../../src/config/load.ts'
import { hasOpenssl } from '../support/certificate.ts'
import { hasProgram } from '../support/executable.ts'
import { freePort } from '../support/postgres-server.ts'

interface Service {
  environment?: Record<string, string>
  volumes?: string[]
  image: string
  build?: object
  pull_policy?: string
  command?: string | string[]
  stop_grace_period?: string
  healthcheck?: { interval: string; start_period?: string }
  networks?: { default: { ipv4_address: string } }
}

const examples = join(import.meta.dirname, '../../examples/cluster')
const text = readFileSync(join(examples, 'compose.yaml'), 'utf8')
const conf = readFileSync(join(examples, 'nginx.conf'), 'utf8')
const document: {
  services: Record<string, Service>
  networks: { default: { ipam: { config: [{ subnet: string }] } } }
} = parse(text, { merge: true })
const nodes = ['gw-a', 'gw-b', 'gw-c']

const directory = mkdtempSync(join(tmpdir(), 'spgw-example-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('examples/cluster/compose.yaml', () => {
  it.each(nodes)('has settings for %s that there are, which share all that can be shared', (name) => {
    const { environment = {}, stop_grace_period = '', volumes = [] } = document.services[name] ?? {}
    // As compose fills them in; the file is read where it lies.
    const filled = Object.entries(environment).map(([key, value]) => [key, value.replace(/^\$\{\w+\}$/, 'secret')])
    const { cluster, gateway } = loadSettings({
      environment: Object.fromEntries(filled),
      flags: { dataDir: directory },
    })
    expect(cluster).toMatchObject({ node: name, host: 'postgres', records: 'shared', sharesBudgets: true })
    expect(cluster?.valkey).toMatchObject({ host: 'valkey', user: 'spgw' })
    expect([cluster?.authority, cluster?.valkey?.authority]).toEqual(['/certificates/ca.pem', '/certificates/ca.pem'])
    // Else upload URLs would lead to what nginx calls the gateways.
    expect(gateway.url).toBe('http://localhost:8787')
    expect(gateway.trustedProxies).toEqual([document.services.nginx?.networks?.default.ipv4_address])
    expect(Number.parseInt(stop_grace_period, 10) * 1000).toBeGreaterThan(gateway.drainMs + 5000)
    expect(volumes).toEqual([`${name}:/var/lib/spgw`, 'certificates:/certificates:ro'])
  })

  it('gives each node an address that stays, since nginx looks names up once, and nginx one that is trusted', () => {
    const fixed = [...nodes, 'nginx']
    const addresses = fixed.map((name) => document.services[name]?.networks?.default.ipv4_address ?? '')
    expect(new Set(addresses).size).toBe(fixed.length)
    const [network = ''] = document.networks.default.ipam.config[0].subnet.split(/\d+\//)
    for (const address of addresses) expect(address.startsWith(network)).toBe(true)
  })

  it('names commands that there are', () => {
    const paths = catalog.map(({ path }) => path.join(' '))
    const commands = [...text.matchAll(/^#.* exec gw-\w spgw (\w+ [\w-]+)/gm)].map(([, words]) => words)
    expect(commands).toContain('cluster init')
    for (const command of commands) expect(paths).toContain(command)
  })

  it('has no command of which compose drops the end: what comes after one of these signs, where it is not quoted', () => {
    for (const { command = '' } of Object.values(document.services))
      if (typeof command === 'string') expect(command.replaceAll(/'[^']*'|"[^"]*"/g, '')).not.toMatch(/[<>&|;]/)
  })

  it('builds the image once, under the name that all nodes have, and asks no registry for it', () => {
    const services = nodes.map((name) => document.services[name])
    expect(services.filter((service) => service?.build !== undefined)).toEqual([services[0]])
    for (const service of services) expect(service).toMatchObject({ image: 'spgw', pull_policy: 'never' })
  })

  it('gives PostgreSQL time for its first start, for which the nodes wait', () => {
    const { interval = '', start_period = '' } = document.services.postgres?.healthcheck ?? {}
    expect(Number.parseInt(start_period, 10)).toBeGreaterThan(20 * Number.parseInt(interval, 10))
  })

  it('gives Valkey the user that the page names', () => {
    const rights = '~spgw:* &spgw:* +@read +@write +@scripting +@pubsub +info +time +ping'
    expect(String(document.services.valkey?.command).replaceAll("'", '')).toContain(rights)
    expect(readFileSync(join(examples, '../../docs/cluster.md'), 'utf8')).toContain(rights)
  })
})

describe('examples/cluster/make-certificates.sh', () => {
  it.skipIf(!hasOpenssl)('makes what each server proves its name with, once (needs openssl)', () => {
    const run = () => spawnSync('sh', [join(examples, 'make-certificates.sh'), directory], { encoding: 'utf8' })
    expect(run()).toMatchObject({ status: 0 })
    const made = readFileSync(join(directory, 'ca.pem'), 'utf8')
    for (const name of ['postgres', 'valkey']) {
      const words = ['verify', '-CAfile', 'ca.pem', '-verify_hostname', name, `${name}.pem`]
      const { status, stderr } = spawnSync('openssl', words, { cwd: directory, encoding: 'utf8' })
      expect(status, stderr).toBe(0)
    }
    expect(run()).toMatchObject({ status: 0 })
    expect(readFileSync(join(directory, 'ca.pem'), 'utf8')).toBe(made)
  })
})

describe('examples/cluster/nginx.conf', () => {
  it('leads to every node, on the ports that are published', () => {
    for (const port of [8787, 8788])
      expect(nodes.filter((name) => conf.includes(`server ${name}:${port}`))).toEqual(nodes)
    expect([...conf.matchAll(/listen (\d+);/g)].map(([, port]) => port)).toEqual(['8787', '8788'])
  })

  it.skipIf(!hasProgram('nginx'))('is understood by nginx (needs nginx)', () => {
    const own = conf.replaceAll(/gw-[abc]:/g, '127.0.0.1:').replaceAll('/var/log/nginx', directory)
    const around = `pid nginx.pid; error_log stderr; events {} http { access_log off; ${own} }`
    writeFileSync(join(directory, 'nginx.conf'), around)
    const words = ['-t', '-p', directory, '-c', join(directory, 'nginx.conf'), '-e', 'stderr']
    const { status, stderr } = spawnSync('nginx', words, { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
  })

  it.skipIf(!hasProgram('nginx'))('shares out all that comes, parts of an upload too (needs nginx)', async () => {
    const asked: [node: string, url: string][] = []
    const servers = nodes.map((name) =>
      createServer(({ url = '' }, response) => {
        asked.push([name, url])
        response.end(name)
      }).listen(0, '127.0.0.1'),
    )
    await Promise.all(servers.map((server) => once(server, 'listening')))
    const [port, consolePort] = [await freePort(), await freePort()]
    const places = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`)
    const own = nodes
      .reduce((words, name, at) => words.replaceAll(`${name}:8787`, places[at] ?? ''), conf)
      .replaceAll(/gw-[abc]:8788/g, '127.0.0.1:9')
      .replace('listen 8787', `listen 127.0.0.1:${port}`)
      .replace('listen 8788', `listen 127.0.0.1:${consolePort}`)
      .replaceAll('/var/log/nginx', directory)
    const file = join(directory, 'running.conf')
    writeFileSync(file, `pid ${directory}/running.pid; error_log stderr; daemon off; events {} http { ${own} }`)
    const nginx = spawn('nginx', ['-p', directory, '-c', file, '-e', 'stderr'], { stdio: 'ignore' })
    onTestFinished(async () => {
      for (const server of servers) server.close()
      if (nginx.exitCode === null && nginx.kill()) await once(nginx, 'exit')
    })
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).then((response) => response.text())
    while (nginx.exitCode === null && (await ask('/readyz').catch(() => null)) === null)
      await new Promise((resolve) => setTimeout(resolve, 20))
    const nodesOf = async (path: string) => {
      const found = new Set<string>()
      for (let number = 0; number < 12; number++) found.add(await ask(path))
      return found.size
    }
    const upload = '/v1/gemini/upload/v1beta/files?upload_protocol=resumable&upload_id='
    expect(await nodesOf(`${upload}one`)).toBe(3)
    expect(await nodesOf('/v1/models')).toBe(3)
    expect(asked.at(-13)?.[1]).toBe(`${upload}one`)
  })
})
