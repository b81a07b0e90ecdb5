import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isPython } from './agents.ts'

const run = promisify(execFile)

export interface Installed {
  /** Where the client's programs are. */
  programs: string
  version: string
}

/** Installs a client's packages in a folder of their own, unless they are there; to get newer ones, delete the folder. */
export async function install(directory: string, packages: readonly string[]): Promise<Installed> {
  const python = isPython(packages)
  const programs = join(directory, python ? 'bin' : 'node_modules/.bin')
  const names = packages.map((name) => name.replace('pip:', ''))
  const isThere = python ? existsSync(programs) : existsSync(join(directory, 'node_modules', names.at(-1) ?? ''))
  if (!isThere) {
    process.stdout.write(`Installing ${names.join(' ')} …\n`)
    mkdirSync(directory, { recursive: true })
    await (python ? installPython(directory, programs, names) : installNode(directory, names))
  }
  const [first = ''] = names
  return { programs, version: python ? await pythonVersion(programs, first) : nodeVersion(directory, first) }
}

async function installNode(directory: string, names: readonly string[]): Promise<void> {
  const npm = (...args: string[]) => run('npm', [...args, '--prefix', directory, '--loglevel=error'])
  await npm('install', '--no-audit', '--no-fund', ...names.map((name) => `${name}@latest`))
  // Claude Code and opencode put their program in place by a script of their own, which npm may be set not to run.
  await npm('rebuild', '--ignore-scripts=false', ...names)
}

async function installPython(directory: string, programs: string, names: readonly string[]): Promise<void> {
  await run('python3', ['-m', 'venv', directory])
  await run(join(programs, 'pip'), ['install', '--quiet', ...names])
}

async function pythonVersion(programs: string, name: string): Promise<string> {
  const { stdout } = await run(join(programs, 'pip'), ['show', name])
  return /^Version: (.*)$/m.exec(stdout)?.[1] ?? 'unknown'
}

function nodeVersion(directory: string, name: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(directory, 'node_modules', name, 'package.json'), 'utf8'))
  return String(Reflect.get(Object(manifest), 'version'))
}
