import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import packageDescription from '../../package.json' with { type: 'json' }
import type { Notice } from '../../src/daemon/commands/licenses-command.ts'
import { bundle, hostPlatform, licensesName } from '../bundle.ts'
import { packageExecutable } from '../package.ts'
import { readFlags } from '../read-flags.ts'
import { collectDebianFiles } from './debian-files.ts'
import { writeDebianPackage } from './debian-package.ts'
import { writeImage } from './image.ts'
import { writeNpmPackage } from './npm-package.ts'
import { writeProvenance } from './provenance.ts'
import { writeSbom } from './sbom.ts'
import { type TarEntry, withDirectories, writeTar } from './tar.ts'

const help = `npm run release [-- --directory DIR] [--platform PLATFORM]

Makes what is handed out of this commit: the executable, packages for npm and Debian, an OCI image, an SBOM, provenance and
SHA256SUMS. Needs Debian or Ubuntu, and nothing of Docker's. An image holds libraries of this machine, so none is made for
another platform. SOURCE_DATE_EPOCH gives all files another time than the commit's.

  --directory DIR       put it there (dist/release); what is there is deleted
  --platform PLATFORM   linux-x64 or linux-arm64 (this machine's)
`

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const { version, description, license } = packageDescription
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

async function release(directory: string, platform: string): Promise<void> {
  const architecture = architectures[platform]
  if (architecture === undefined)
    throw new Error(`A release is made for ${Object.keys(architectures).join(' and ')}, not for ${platform}.`)
  const [seconds, revision] = [await readTime(), await git('rev-parse', 'HEAD')]
  const ownPlatform = platform === hostPlatform()
  const report = (step: string): void => void process.stderr.write(`${step}\n`)
  const packaged = join(root, ownPlatform ? 'dist/spgw' : `dist/spgw-${platform}`)
  const executable = await packageExecutable(packaged, { platform }, report)
  await rm(directory, { recursive: true, force: true })
  await mkdir(directory, { recursive: true })
  const name = `spgw-${version}-${platform}`
  const put = (file: string, bytes: string | Uint8Array) => writeFile(join(directory, file), bytes)
  await cp(executable, join(directory, name))
  report('Writing the packages …')
  const common = { executable, version, seconds }
  await put(`${name}.tgz`, await writeNpmPackage({ ...common, description, license, platform }))
  await put(`spgw_${version}_${architecture}.deb`, await writeDebianPackage({ ...common, architecture }))
  const work = await mkdtemp(join(root, '.build/release-'))
  try {
    const debian = ownPlatform ? await collectDebianFiles(executable) : null
    if (debian !== null) {
      await writeImage(join(work, 'image'), { ...common, debian, revision, architecture })
      await put(`${name}.oci.tar`, writeTar(await readTree(join(work, 'image')), seconds))
    }
    await bundle(join(work, 'bundle'), { platform })
    const notices: Notice[] = JSON.parse(await readFile(join(work, 'bundle', licensesName), 'utf8'))
    const sha256 = await hashFile(executable)
    const packages = debian?.packages ?? []
    await put(`${name}.cdx.json`, writeSbom({ notices, debian: packages, sha256, platform, architecture, seconds }))
  } finally {
    await rm(work, { recursive: true, force: true })
  }
  const changed = (await git('status', '--porcelain')) !== ''
  const lockSha256 = await hashFile(join(root, 'package-lock.json'))
  const build = { platform, revision, changed, lockSha256, node: process.version.slice(1), seconds }
  await put(`${name}.provenance.json`, writeProvenance({ files: await hashFiles(directory), ...build }))
  const sums = (await hashFiles(directory)).map((file) => `${file.sha256}  ${file.name}\n`).join('')
  // As `sha256sum --check` reads them.
  await put('SHA256SUMS', sums)
  process.stdout.write(sums)
}

async function readTree(directory: string): Promise<TarEntry[]> {
  const below = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = below.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const entries = files.map(async (file): Promise<TarEntry> => {
    return { path: relative(directory, file), kind: 'file', mode: 0o644, bytes: await readFile(file) }
  })
  return withDirectories(await Promise.all(entries))
}

async function hashFiles(directory: string): Promise<{ name: string; sha256: string }[]> {
  const names = (await readdir(directory)).sort()
  return Promise.all(names.map(async (name) => ({ name, sha256: await hashFile(join(directory, name)) })))
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

const { values } = readFlags(help, {
  options: {
    directory: { type: 'string', default: join(root, 'dist/release') },
    platform: { type: 'string', default: hostPlatform() },
  },
})
await release(values.directory, values.platform)
