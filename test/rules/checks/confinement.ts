import { isBuiltin } from 'node:module'
import { type CallExpression, type NewExpression, Visitor } from 'oxc-parser'
import type { Import, Module, Violation } from './modules.ts'
import { roomOf } from './rooms.ts'

const networkFiles = [
  'src/providers/http',
  'src/providers/socket',
  'src/gateway/server',
  'src/gateway/sockets/handshake',
  'src/gateway/thread/server-address',
  'src/admin/server',
  'src/admin/client',
  'src/admin/socket-',
  'src/console/listener',
  'src/console/app/client/http',
]
const networkModules = ['http', 'https', 'http2', 'net', 'tls', 'dgram', 'dns', 'undici', 'ws']
/** Of node:net, what only looks at text. */
const harmlessNames = ['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress']
const environmentFiles = ['src/config/load.ts', 'src/main.ts']
const databaseModules = ['better-sqlite3', 'kysely', 'sqlite']
const ciphers = ['createCipheriv', 'createDecipheriv', 'publicEncrypt', 'privateDecrypt', 'encrypt', 'decrypt']

export function checkNetwork(modules: Module[]): Violation[] {
  return modules.flatMap((module) => {
    if (networkFiles.some((file) => module.path.startsWith(file))) return []
    const imported = module.imports.filter((one) => !one.typeOnly && isNetwork(one))
    return [
      ...imported.map(({ line, specifier }) => `${module.path}:${line}: ${specifier} is for the network's own files`),
      ...callsOf(module, ['fetch', 'WebSocket', 'EventSource']),
    ]
  })
}

function isNetwork({ specifier, names }: Import): boolean {
  const harmless = names.length > 0 && names.every((name) => harmlessNames.includes(name))
  return networkModules.includes(bare(specifier)) && !harmless
}

function bare(specifier: string): string {
  return specifier.replace(/^node:/, '').split('/')[0] ?? ''
}

function callsOf(module: Module, names: string[]): Violation[] {
  const found: Violation[] = []
  const look = ({ callee }: CallExpression | NewExpression) => {
    if (callee.type !== 'Identifier' || !names.includes(callee.name)) return
    found.push(`${module.path}:${module.lineOf(callee.start)}: ${callee.name} is for the network's own files`)
  }
  new Visitor({ CallExpression: look, NewExpression: look }).visit(module.program)
  return found
}

export function checkDatabase(modules: Module[]): Violation[] {
  return modules
    .filter((module) => !module.path.startsWith('src/store/'))
    .flatMap((module) =>
      module.imports
        .filter(({ specifier }) => databaseModules.includes(bare(specifier)))
        .map(({ line, specifier }) => `${module.path}:${line}: only store/ opens the database (${specifier})`),
    )
}

const clusterModules = ['pg', 'iovalkey']

/** A gateway alone has nothing of a cluster: who is to run it loads it. */
export function checkCluster(modules: Module[]): Violation[] {
  return modules
    .filter((module) => roomOf(module.path) !== 'cluster')
    .flatMap((module) =>
      module.imports
        .filter(({ specifier }) => clusterModules.includes(bare(specifier)))
        .map(
          ({ line, specifier }) =>
            `${module.path}:${line}: only cluster/ talks to the engines of a cluster (${specifier})`,
        ),
    )
}

export function checkEnvironment(modules: Module[]): Violation[] {
  return modules
    .filter((module) => !environmentFiles.includes(module.path))
    .flatMap((module) => {
      const found: Violation[] = []
      const report = (offset: number) =>
        found.push(`${module.path}:${module.lineOf(offset)}: only config/load and main read the environment`)
      new Visitor({
        MemberExpression(node) {
          const { object, property } = node
          const isProcess = object.type === 'Identifier' && object.name === 'process'
          if (isProcess && property.type === 'Identifier' && property.name === 'env') report(node.start)
        },
        ImportSpecifier(node) {
          if (node.imported.type === 'Identifier' && node.imported.name === 'env') report(node.start)
        },
      }).visit(module.program)
      return found
    })
}

export function checkEncryption(modules: Module[]): Violation[] {
  return modules
    .filter((module) => roomOf(module.path) !== 'sealing')
    .flatMap((module) => {
      const found = new Set<Violation>()
      const report = (name: string, offset: number) => {
        if (ciphers.includes(name))
          found.add(`${module.path}:${module.lineOf(offset)}: only sealing/ encrypts (${name})`)
      }
      new Visitor({
        Identifier: (node) => report(node.name, node.start),
      }).visit(module.program)
      return [...found]
    })
}

/** These rooms run in a browser too: nothing of Node's, not even as a value hidden behind a library of Node's. */
export function checkBrowserSafe(modules: Module[]): Violation[] {
  const isSafe = (module: Module) =>
    ['core', 'admin/contract', 'console/app'].includes(roomOf(module.path)) || module.path === 'src/admin/client.ts'
  return modules.filter(isSafe).flatMap((module) => {
    const isCore = roomOf(module.path) === 'core'
    return module.imports
      .filter(
        ({ specifier, file }) => file === null && (isCore || isBuiltin(specifier) || bare(specifier) === 'undici'),
      )
      .map(({ line, specifier }) => `${module.path}:${line}: runs in a browser too, and may not import ${specifier}`)
  })
}
