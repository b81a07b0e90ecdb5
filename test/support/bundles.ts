import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Bundle, type BundleOptions, bundle } from '../../scripts/bundle.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'

const root = join(import.meta.dirname, '../..')
const scratch = join(root, '.build/bundles')

/** Everything of the repository that a bundle is made from, or by. What npm installed is known by the lock file. */
export const bundledFrom = ['src', 'cli', 'tui', 'scripts', 'package.json', 'package-lock.json', 'LICENSE']

interface Made<T> {
  directory: string
  described: T
}

/** What is released, before it is packaged: made once for all processes that look at it, until a source changes. */
export function releasedBundle(): Promise<Made<Bundle>> {
  return once('released', async (directory) => bundle(directory, { consoleFrom: await makeConsole() }))
}

/** The same with fault points. */
export function bundleForTests(): Promise<Made<Bundle>> {
  return once('tests', async (directory) => bundle(directory, { consoleFrom: await makeConsole(), forTests: true }))
}

async function makeConsole(): Promise<BundleOptions['consoleFrom']> {
  const { directory, described } = await once('console', bundleConsole)
  return { directory, consolePage: described }
}

/** By name: each of vitest's projects loads this file for itself, in the process where all of them set up. */
const making = Symbol.for('spgw.bundles')

function once<T>(name: string, make: (directory: string) => Promise<T>): Promise<Made<T>> {
  const known: Map<string, Promise<Made<T>>> = Reflect.get(globalThis, making) ?? new Map()
  Reflect.set(globalThis, making, known)
  const found = known.get(name) ?? makeUnlessThere(name, make)
  known.set(name, found)
  return found
}

async function makeUnlessThere<T>(name: string, make: (directory: string) => Promise<T>): Promise<Made<T>> {
  const hash = await hashSources()
  const directory = join(scratch, name)
  const described = join(scratch, `${name}.json`)
  const read = async (): Promise<T | null> => {
    const text = await readFile(described, 'utf8').catch(() => null)
    const stands: { hash: string; described: T } | null = text === null ? null : JSON.parse(text)
    return stands?.hash === hash ? stands.described : null
  }
  const there = await read()
  if (there !== null) return { directory, described: there }
  await mkdir(scratch, { recursive: true })
  const work = await mkdtemp(join(scratch, `${name}-`))
  try {
    const made = await make(join(work, 'made'))
    // Another process has made the same meanwhile, and others read it.
    const others = await read()
    if (others !== null) return { directory, described: others }
    await rm(described, { force: true })
    // In one step: what is removed file by file may be what another process puts there in between.
    await rename(directory, join(work, 'before')).catch(unless('ENOENT'))
    await rename(join(work, 'made'), directory).catch(unless('ENOTEMPTY'))
    await writeFile(join(work, 'described'), JSON.stringify({ hash, described: made }))
    await rename(join(work, 'described'), described)
    return { directory, described: made }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function unless(code: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof Error && 'code' in error && error.code === code)) throw error
  }
}

async function hashSources(): Promise<string> {
  const hash = createHash('sha256').update(process.version)
  for (const path of bundledFrom) {
    // Of a file: itself.
    const below = await readdir(join(root, path), { recursive: true }).catch(() => [''])
    for (const file of below.sort()) {
      const bytes = await readFile(join(root, path, file)).catch(() => null)
      if (bytes !== null) hash.update(`\n${join(path, file)} ${bytes.length}\n`).update(bytes)
    }
  }
  return hash.digest('hex')
}
