import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../src/core/caught.ts'
import { readBounded, tooLong } from '../src/core/text/bounded-text.ts'
import { fileOfVariable, variablesIn } from '../src/core/variables.ts'
import { CommandFault, usageFault } from './fault.ts'
import type { Io } from './io.ts'

/** Files that `diff` and `apply` were given, by their names as messages will call them. */
export interface ConfigurationFiles {
  files: Record<string, string>
  /** Those that the files name and that are set here, and the files that they name; no others leave this process. */
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
  return { files, variables: await readVariables(Object.values(files), io) }
}

async function expand(path: string): Promise<string[]> {
  const found = await stat(path).catch((error: unknown) => refuse(path, error))
  if (!found.isDirectory()) return [path]
  const names = (await readdir(path)).filter((name) => endings.test(name)).sort()
  if (names.length === 0) throw usageFault(`${path} contains no *.yaml, *.yml or *.json file.`, 'Name the file itself.')
  return names.map((name) => join(path, name))
}

async function read(path: string): Promise<string> {
  return await readText(path).catch((error: unknown) => refuse(path, error))
}

async function readText(path: string): Promise<string> {
  const text = await readBounded(createReadStream(path))
  if (text === null) throw usageFault(`${path} ${tooLong}.`, 'Give what is in it in smaller files.')
  return text
}

function refuse(path: string, error: unknown): never {
  if (error instanceof CommandFault) throw error
  const code = errorCode(error) ?? 'unknown'
  if (code === 'ENOENT') throw usageFault(`${path} does not exist.`, 'Name a file or a directory of files.')
  throw usageFault(`${path} cannot be read (${code}).`, 'Check the permissions of the file.')
}

async function readVariables(texts: readonly string[], { environment }: Io): Promise<Record<string, string>> {
  const found: [string, string][] = []
  for (const name of variablesIn(texts.join('\n'))) {
    const file = fileOfVariable(name)
    const value = file === null ? environment[name] : await readText(file).then(withoutLineEnd, () => undefined)
    if (value !== undefined) found.push([name, value])
  }
  return Object.fromEntries(found)
}

/** That is the editor's, not the secret's. */
function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}
