import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs, promisify } from 'node:util'
import packageDescription from '../../package.json' with { type: 'json' }
import { hostPlatform } from '../bundle.ts'
import { packageExecutable } from '../package.ts'
import { collectDebianFiles } from './debian-files.ts'
import { writeDebianPackage } from './debian-package.ts'
import { writeImage } from './image.ts'
import { type TarEntry, withDirectories, writeTar } from './tar.ts'

/*
 * `npm run release [-- --directory DIR]`: what is handed out of this commit on this machine, in `dist/release`: the
 * executable, an OCI image, a package for Debian, and SHA256SUMS. Needs Debian or Ubuntu, and nothing of Docker's.
 */

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const { version } = packageDescription
/** Node's name of an architecture → Go's and Debian's, which agree on these two. */
const architectures: Readonly<Record<string, string>> = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' }

/** Null outside of a repository. */
async function git(...words: string[]): Promise<string | null> {
  const found = await run('git', words, { cwd: root }).catch(() => null)
  return found === null ? null : found.stdout.trim()
}

/** The time of the commit, unless who builds says another one (https://reproducible-builds.org/docs/source-date-epoch/). */
async function readTime(): Promise<number> {
  return Number(process.env.SOURCE_DATE_EPOCH ?? (await git('log', '-1', '--format=%ct')) ?? 0)
}

async function release(directory: string): Promise<void> {
  const platform = hostPlatform()
  const architecture = architectures[platform]
  if (architecture === undefined) throw new Error(`An image and a package are made on Linux only, not on ${platform}.`)
  const [seconds, revision] = [await readTime(), await git('rev-parse', 'HEAD')]
  const executable = await packageExecutable(undefined, {}, (step) => void process.stderr.write(`${step}\n`))
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const name = `spgw-${version}-${platform}`
  await cp(executable, join(directory, name))
  const work = await mkdtemp(join(root, '.build/release-'))
  try {
    const debian = await collectDebianFiles(executable)
    await writeImage(work, { executable, debian, version, revision, architecture, seconds })
    await writeFile(join(directory, `${name}.oci.tar`), writeTar(await readTree(work), seconds))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  const packaged = await writeDebianPackage({ executable, version, architecture, seconds })
  await writeFile(join(directory, `spgw_${version}_${architecture}.deb`), packaged)
  await writeSums(directory)
}

async function readTree(directory: string): Promise<TarEntry[]> {
  const below = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = below.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const entries = files.map(async (file): Promise<TarEntry> => {
    return { path: relative(directory, file), kind: 'file', mode: 0o644, bytes: await readFile(file) }
  })
  return withDirectories(await Promise.all(entries))
}

/** As `sha256sum --check` reads them. */
async function writeSums(directory: string): Promise<void> {
  const lines: string[] = []
  for (const name of (await readdir(directory)).sort()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(directory, name)), hash)
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  await writeFile(join(directory, 'SHA256SUMS'), lines.join(''))
  process.stdout.write(lines.join(''))
}

const { values } = parseArgs({ options: { directory: { type: 'string', default: join(root, 'dist/release') } } })
await release(values.directory)
