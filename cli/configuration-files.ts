import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { usageFault } from './fault.ts'
import type { Io } from './io.ts'

/** Files that `diff` and `apply` were given, by their names as messages will call them. */
export interface ConfigurationFiles {
  files: Record<string, string>
  /** Those that the files name and that are set here; no others leave this process. */
  variables: Record<string, string>
}

const endings = /\.(yaml|yml|json)$/

/** A directory stands for the files in it (`*.yaml`, `*.yml`, `*.json`), `-` for standard input. */
export async function readConfigurationFiles(paths: readonly string[], io: Io): Promise<ConfigurationFiles> {
  const files: Record<string, string> = {}
  for (const path of paths) {
    if (path === '-') files['standard input'] = await io.stdin.readAll()
    else for (const file of await expand(path)) files[file] = await read(file)
  }
  return { files, variables: findVariables(Object.values(files), io) }
}

async function expand(path: string): Promise<string[]> {
  const found = await stat(path).catch((error: unknown) => refuse(path, error))
  if (!found.isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => endings.test(name)).sort()
  if (names.length === 0) throw usageFault(`${path} contains no *.yaml, *.yml or *.json file.`, 'Name the file itself.')
  return names.map((name) => join(path, name))
}

async function read(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => refuse(path, error))
}

function refuse(path: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  if (code === 'ENOENT') throw usageFault(`${path} does not exist.`, 'Name a file or a directory of files.')
  throw usageFault(`${path} cannot be read (${code}).`, 'Check the permissions of the file.')
}

function findVariables(texts: readonly string[], { environment }: Io): Record<string, string> {
  const names = texts.flatMap((text) => [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name]) => name))
  const set = [...new Set(names)].flatMap((name): [string, string][] => {
    const value = name === undefined ? undefined : environment[name]
    return name === undefined || value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(set)
}
