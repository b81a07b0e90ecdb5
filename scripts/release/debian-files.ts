import { execFile } from 'node:child_process'
import { readdir, readFile, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import type { TarEntry } from './tar.ts'

const run = promisify(execFile)

/** A package of Debian's that files of an image come from. */
export interface DebianPackage {
  name: string
  version: string
}

export interface DebianFiles {
  entries: TarEntry[]
  packages: DebianPackage[]
}

const authorities = '/usr/share/ca-certificates/mozilla'

/**
 * What the executable needs of a system, from this machine, which must be Debian: the libraries that its loader names,
 * the certificate authorities, and the copyright notices of their packages. Throws where one of them is missing.
 */
export async function collectDebianFiles(executable: string): Promise<DebianFiles> {
  const { stdout } = await run('ldd', [executable])
  // `libm.so.6 => /lib/…/libm.so.6 (0x…)`, and the loader alone: `/lib64/ld-linux-x86-64.so.2 (0x…)`.
  const libraries = [...stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, path = '']) => path)
  if (libraries.length === 0) throw new Error(`${executable} names no libraries: ${stdout}`)
  const entries: TarEntry[] = []
  const packages = new Map<string, DebianPackage>()
  for (const path of libraries.sort()) {
    entries.push(await fileEntry(path))
    await addPackage(await realpath(path), packages)
  }
  entries.push(await bundleAuthorities())
  await addPackage(authorities, packages)
  const sorted = [...packages.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const { name } of sorted) entries.push(await fileEntry(`/usr/share/doc/${name}/copyright`))
  return { entries, packages: sorted }
}

/** Under the name by which it is looked for; what a symbolic link leads to has a name that nobody asks for. */
async function fileEntry(path: string): Promise<TarEntry> {
  const mode = basename(path).startsWith('ld-linux') ? 0o755 : 0o644
  return { path: path.slice(1), kind: 'file', mode, bytes: await readFile(path) }
}

/** As `update-ca-certificates` puts them together. */
async function bundleAuthorities(): Promise<TarEntry> {
  const names = (await readdir(authorities)).filter((name) => name.endsWith('.crt')).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(authorities, name), 'utf8')))
  const bytes = Buffer.from(texts.map((text) => `${text.trim()}\n`).join(''))
  return { path: 'etc/ssl/certs/ca-certificates.crt', kind: 'file', mode: 0o644, bytes }
}

async function addPackage(path: string, packages: Map<string, DebianPackage>): Promise<void> {
  const owner = await ownerOf(path)
  const { stdout } = await run('dpkg-query', ['-W', owner])
  // `libc6:amd64<tab>2.36-9`: the architecture only where packages of several may stand side by side.
  const [, name = '', version = ''] = /^([^\s:]+)\S*\t(\S+)/.exec(stdout) ?? []
  packages.set(name, { name, version })
}

/** dpkg knows a file by the path that its package gave it, with or without `/usr`. */
async function ownerOf(path: string): Promise<string> {
  const paths = path.startsWith('/usr/lib') ? [path, path.slice('/usr'.length)] : [path, `/usr${path}`]
  for (const each of paths) {
    const found = await run('dpkg-query', ['-S', each]).catch(() => null)
    const owner = found?.stdout.split('\n')[0]?.split(': ')[0]
    if (owner !== undefined && owner !== '') return owner
  }
  throw new Error(`${path} belongs to no package of Debian's; an image can be made on Debian only.`)
}
