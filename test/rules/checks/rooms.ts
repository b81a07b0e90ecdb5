import type { Module, Violation } from './modules.ts'

/** Who may import whom (docs/architecture.md): room → rooms. What is not listed is refused; a room may import itself. */
const allowed: Record<string, readonly string[]> = {
  core: [],
  addresses: [],
  config: ['core'],
  sealing: ['core', 'sealing/client-token', 'sealing/body-seal'],
  // The parts of sealing that the data plane has: a key of its own for tokens, and one for bodies.
  'sealing/body-seal': ['core', 'sealing'],
  'sealing/client-token': ['sealing'],
  manifest: ['core', 'config', 'routing'],
  import: ['core', 'config', 'providers', 'routing'],
  store: ['core', 'sealing', 'sealing/body-seal'],
  'sign-in': ['core', 'sealing', 'store'],
  cluster: ['core', 'sealing', 'store', 'policy'],
  lanes: ['core'],
  providers: ['core', 'addresses'],
  translate: ['core'],
  routing: ['core', 'store/snapshot'],
  policy: ['core', 'addresses', 'store/snapshot'],
  gateway: [
    'core',
    'addresses',
    'lanes',
    'providers',
    'translate',
    'policy',
    'routing',
    'store/snapshot',
    'sealing/client-token',
    'sealing/body-seal',
  ],
  'admin/contract': ['core'],
  'admin/handlers': [
    'admin/contract',
    'core',
    'manifest',
    'store',
    'store/snapshot',
    'sealing',
    'sealing/body-seal',
    'sign-in',
    'policy',
    'routing',
    'providers',
    'translate',
  ],
  'admin/server': ['admin/contract', 'admin/handlers', 'core'],
  'admin/client': ['admin/contract', 'core'],
  'console/app': ['admin/contract', 'admin/client', 'core'],
  'console/listener': ['admin/server', 'addresses', 'core', 'sign-in'],
  cli: ['admin/contract', 'admin/client', 'core'],
  // Both are faces of a terminal: how a field is read and a record drawn is said once, on the command line.
  tui: ['admin/contract', 'admin/client', 'core', 'cli'],
}

/** Rooms that see everything but what composes them. The daemon composes the process; main adds the faces to it. */
const composers: Record<string, readonly string[]> = { daemon: ['cli', 'tui', 'main'], main: [] }

/** A room is named by its folder; files that stand alone in admin/ and console/ belong to the room in brackets. */
const rooms: readonly [prefix: string, room: string][] = [
  ['src/main.ts', 'main'],
  ['src/local-commands.ts', 'main'],
  ['src/store/configuration/snapshot.ts', 'store/snapshot'],
  ['src/sealing/client-token.ts', 'sealing/client-token'],
  ['src/sealing/body-seal.ts', 'sealing/body-seal'],
  ['src/admin/contract/', 'admin/contract'],
  ['src/admin/handlers/', 'admin/handlers'],
  ['src/admin/client', 'admin/client'],
  ['src/admin/socket-transport', 'admin/client'],
  ['src/admin/', 'admin/server'],
  ['src/console/app/', 'console/app'],
  ['src/console/', 'console/listener'],
  ['cli/', 'cli'],
  ['tui/', 'tui'],
]

export function roomOf(path: string): string {
  const special = rooms.find(([prefix]) => path.startsWith(prefix))
  return special?.[1] ?? path.split('/')[1] ?? path
}

export function checkImportTable(modules: Module[]): Violation[] {
  return modules.flatMap((module) =>
    module.imports.flatMap(({ file, specifier, line }) => {
      if (file === null || file === 'package.json') return []
      const reason = refusal(module.path, file)
      return reason === null ? [] : [`${module.path}:${line}: ${reason} (${specifier})`]
    }),
  )
}

function refusal(from: string, to: string): string | null {
  const [source, target] = [roomOf(from), roomOf(to)]
  if (target === 'main' && source !== 'main') return 'nobody imports main'
  if (target === 'daemon' && source !== 'daemon' && source !== 'main') return 'only main imports the daemon'
  const composer = composers[source]
  if (composer) return composer.includes(target) ? `${source} may not import ${target}` : null
  if (source === 'store/snapshot') return target === 'core' ? null : `${source} may not import ${target}`
  if (source === 'store' && target === 'store/snapshot') return null
  if (source !== target) return allowed[source]?.includes(target) ? null : `${source} may not import ${target}`
  return siblings(from, to) ? `${siblingOf(from)} may not import its sibling ${siblingOf(to)}` : null
}

/** A lane never leans on another lane, nor a kind on another kind: what both need stands in the room above them. */
function siblings(from: string, to: string): boolean {
  const [left, right] = [siblingOf(from), siblingOf(to)]
  return left !== null && right !== null && left !== right
}

function siblingOf(path: string): string | null {
  return (
    /^src\/(?:lanes|providers|translate)\/(openai|anthropic|gemini|chat|responses|messages|generate)\//.exec(
      path,
    )?.[1] ?? null
  )
}

export function findCycle(modules: Module[]): string[] | null {
  const targets = new Map(modules.map((module) => [module.path, module.imports.flatMap(({ file }) => file ?? [])]))
  const done = new Set<string>()
  const search = (path: string, trail: string[]): string[] | null => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (done.has(path)) return null
    for (const target of targets.get(path) ?? []) {
      const cycle = search(target, [...trail, path])
      if (cycle) return cycle
    }
    done.add(path)
    return null
  }
  for (const path of targets.keys()) {
    const cycle = search(path, [])
    if (cycle) return cycle
  }
  return null
}
