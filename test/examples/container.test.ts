import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { catalog } from '../../cli/catalog.ts'
import { loadSettings } from '../../src/config/load.ts'
import { localCommands } from '../../src/local-commands.ts'

const root = join(import.meta.dirname, '../..')
const containerfile = 'examples/container/Containerfile'
const composeDirectory = 'examples/compose'
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Throws for a setting that there is not. */
function load(environment: Record<string, string>) {
  return loadSettings({ environment, flags: { dataDir: tmpdir() } })
}

function expectCommand(words: string[]): void {
  const paths = [...catalog.map(({ path }) => path.join(' ')), ...localCommands.map(({ name }) => name)]
  expect(paths).toContain(words.join(' '))
}

/** The commands that a comment tells people to run. */
function commandsIn(text: string): string[] {
  return [...text.matchAll(/^#\s+.*\bspgw spgw (.+)$/gm)].map(([, words = '']) => words)
}

describe('the Containerfile', () => {
  const text = read(containerfile)
  const lines = text.replaceAll(/\\\n/g, ' ').split('\n')
  const instructions = lines.flatMap((line) => (line === '' || line.startsWith('#') ? [] : [line.split(/ (.*)/s, 2)]))
  const all = (name: string) => instructions.flatMap(([own, value = '']) => (own === name ? [value] : []))
  const environment = Object.fromEntries(all('ENV').map((pair) => pair.split(/=(.*)/s, 2)))

  it('has only instructions that there are', () => {
    const known = [
      'FROM',
      'RUN',
      'COPY',
      'ENV',
      'USER',
      'VOLUME',
      'EXPOSE',
      'HEALTHCHECK',
      'STOPSIGNAL',
      'ENTRYPOINT',
      'CMD',
    ]
    expect(instructions.map(([name]) => name).filter((name = '') => !known.includes(name))).toEqual([])
  })

  it('copies what packaging makes, and starts it', () => {
    expect(text).toContain('podman build -t spgw -f examples/container/Containerfile dist')
    expect(all('COPY')).toEqual(['--chmod=0755 spgw /usr/local/bin/spgw'])
    expect(JSON.parse(all('ENTRYPOINT')[0] ?? '')).toEqual(['/usr/local/bin/spgw'])
    expectCommand(JSON.parse(all('CMD')[0] ?? ''))
    const [, ...probe] = JSON.parse(all('HEALTHCHECK')[0]?.replace(/^--start-period=120s CMD /, '') ?? '')
    expectCommand(probe)
    for (const words of commandsIn(text)) expectCommand(words.split(' '))
  })

  it('listens where it says, and keeps its data in the volume', () => {
    const { SPGW_DATA_DIR, ...settings } = environment
    const { gateway, console } = load(settings)
    expect([gateway.host, console.host]).toEqual(['0.0.0.0', '0.0.0.0'])
    expect(all('EXPOSE')).toEqual([`${gateway.port} ${console.port}`])
    expect(all('VOLUME')).toEqual([SPGW_DATA_DIR])
    expect(text).toContain(`-v spgw:${SPGW_DATA_DIR} `)
    expect(all('RUN').join()).toContain(`install -d -m 0700 -o ${all('USER')[0]} ${SPGW_DATA_DIR}`)
  })
})

interface Service {
  image: string
  build?: { context: string; dockerfile: string }
  restart: string
  stop_grace_period?: string
  environment?: Record<string, string>
  volumes: string[]
  healthcheck?: { test: string[]; interval: string; start_period: string }
  depends_on?: Record<string, { condition: string }>
  networks?: { default: { ipv4_address: string } }
  ports?: string[]
}

describe('the compose file', () => {
  const text = read(`${composeDirectory}/compose.yaml`)
  const document = parse(text)
  const { spgw, nginx }: { spgw: Service; nginx: Service } = document.services
  const conf = read(`${composeDirectory}/nginx.conf`)

  it('builds the image from the Containerfile', () => {
    const context = join(composeDirectory, spgw.build?.context ?? '')
    expect(context).toBe('dist')
    expect(join(context, spgw.build?.dockerfile ?? '')).toBe(containerfile)
    const volume = /^VOLUME (.*)$/m.exec(read(containerfile))?.[1]
    expect(spgw.volumes).toEqual([`data:${volume}`])
    expect(Object.keys(document.volumes)).toEqual(['data'])
  })

  it('has settings that there are, and trusts nginx alone, which has an address of its own', () => {
    const { gateway } = load(spgw.environment ?? {})
    expect(gateway.trustedProxies).toEqual([nginx.networks?.default.ipv4_address])
    const [network = ''] = document.networks.default.ipam.config[0].subnet.split(/\d+\//)
    for (const { networks } of [spgw, nginx]) expect(networks?.default.ipv4_address.startsWith(network)).toBe(true)
    expect(Number.parseInt(spgw.stop_grace_period ?? '', 10) * 1000).toBeGreaterThan(gateway.drainMs + 5000)
  })

  it('waits for a gateway that answers', () => {
    const [kind, program, ...words] = spgw.healthcheck?.test ?? []
    expect([kind, program]).toEqual(['CMD', 'spgw'])
    expectCommand(words)
    expect(nginx.depends_on).toEqual({ spgw: { condition: 'service_healthy' } })
    for (const line of commandsIn(text)) expectCommand(line.split(' '))
  })

  it('gives nginx the files and ports that its configuration names', () => {
    expect(nginx.ports).toEqual(['443:443'])
    expect(new Set([...conf.matchAll(/listen (\d+) ssl;/g)].map(([, port]) => port))).toEqual(new Set(['443']))
    const mounts = nginx.volumes.map((volume) => volume.split(':'))
    const [[file = '', place] = [], [, certificates] = []] = mounts
    expect(existsSync(join(root, composeDirectory, file))).toBe(true)
    expect(relative('/etc/nginx/conf.d', place ?? '')).toBe('default.conf')
    const named = [...conf.matchAll(/ssl_certificate(?:_key)? +(\S+);/g)].map(([, path = '']) => path)
    expect(new Set(named.map(dirname))).toEqual(new Set([certificates]))
  })

  it('has nginx pass on to both listeners, under the names that these answer to', () => {
    const environment = spgw.environment ?? {}
    const ports = /EXPOSE (\d+) (\d+)/.exec(read(containerfile))?.slice(1)
    expect([...conf.matchAll(/proxy_pass http:\/\/spgw:(\d+);/g)].map(([, port]) => port)).toEqual(ports)
    expect([...conf.matchAll(/server_name (\S+);/g)].map(([, name]) => `https://${name}`)).toEqual([
      environment.SPGW_GATEWAY_URL,
      environment.SPGW_CONSOLE_URL,
    ])
  })
})
