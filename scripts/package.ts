import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { addonName, type BundleOptions, bundle, hostPlatform, licensesName } from './bundle.ts'
import { platformNode } from './platform-node.ts'
import { readFlags } from './read-flags.ts'
import { NotStrippable, stripElf } from './strip-elf.ts'
import { thinPackager } from './thin-packager.ts'

const root = join(import.meta.dirname, '..')
const scratch = join(root, '.build')
const largestBytes = 135e6
const node = process.version.slice(1)

export interface PackageOptions extends BundleOptions {
  /** A directory with the bundle, where it has been made already. */
  bundled?: string
}

/**
 * Makes `dist/spgw` for this machine's platform, or another one's executable, and returns its path. Does nothing if none
 * of its inputs has changed. Needs only what npm installed, and npm for another platform's Node: pkg finds its base Node,
 * stripped, in a cache that is filled here.
 * `report` gets a line for each step, since all of it can take a minute.
 */
export async function packageExecutable(
  executable = join(root, 'dist/spgw'),
  options: PackageOptions = {},
  report: (step: string) => void = () => {},
): Promise<string> {
  const { platform = hostPlatform() } = options
  const stamp = join(scratch, `${createHash('sha256').update(resolve(executable)).digest('hex').slice(0, 16)}.hash`)
  await mkdir(scratch, { recursive: true })
  // Each run has its own directory, so that two at once do not delete each other's bundle.
  const work = await mkdtemp(join(scratch, 'package-'))
  try {
    const directory = join(work, 'bundle')
    if (options.bundled === undefined) {
      report('Bundling the gateway, its threads and the console …')
      await bundle(directory, options)
    } else await cp(options.bundled, directory, { recursive: true })
    await writeFile(join(directory, 'package.json'), JSON.stringify(packageJson(platform)))
    const hash = await hashInputs(directory, platform)
    if ((await readFile(stamp, 'utf8').catch(() => '')) === hash && (await exists(executable))) {
      report(`${executable} is up to date.`)
      return executable
    }
    report(`Packaging ${executable} …`)
    const fresh = join(work, 'spgw')
    const home = await fillCache(work, platform)
    await runPackager(await thinPackager(root, work), directory, fresh, home, platform)
    await refuseLarge(fresh)
    await mkdir(dirname(executable), { recursive: true })
    const pieced = join(work, 'pieced')
    await copyInPieces(fresh, pieced)
    // Renamed, not overwritten: a gateway that runs from the old file keeps using it.
    await rename(pieced, executable)
    await writeFile(stamp, hash)
    report(`Packaged ${executable}.`)
    return executable
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** pkg needs as assets all files that are not imported: the threads' bundles, the addon, the licenses and the console's page. Its own start-up code is compiled in advance, where this Node can do that: for its own platform. */
function packageJson(platform: string): object {
  return {
    name: 'spgw',
    bin: 'main.js',
    pkg: {
      assets: ['*.js', addonName, licensesName, 'console/**/*'],
      seaConfig: { useCodeCache: platform === hostPlatform() },
    },
  }
}

async function hashInputs(directory: string, platform: string): Promise<string> {
  const hash = createHash('sha256').update(`${node} ${platform}`)
  const packager = join(root, 'node_modules/@yao-pkg/pkg/package.json')
  const scripts = ['package.ts', 'platform-node.ts', 'strip-elf.ts', 'thin-packager.ts'].map((name) =>
    join(import.meta.dirname, name),
  )
  const below = await readdir(directory, { recursive: true, withFileTypes: true })
  const bundled = below.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : [])).sort()
  for (const file of [packager, ...scripts, ...bundled]) {
    const bytes = await readFile(file)
    hash.update(`\n${basename(file)} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}

/**
 * Creates the files that pkg keeps after a download, in a home directory of the project's own, and returns that directory.
 * If both `.ok` files exist, pkg neither downloads nor unpacks anything, so the archive may be empty.
 */
async function fillCache(work: string, platform: string): Promise<string> {
  const home = join(work, 'home')
  const name = `node-v${node}-${platform}`
  const sea = join(home, '.pkg-cache/sea')
  await mkdir(join(sea, name, 'bin'), { recursive: true })
  await writeFile(join(sea, `${name}.tar.gz`), '')
  await writeFile(join(sea, `${name}.tar.gz.ok`), '')
  // Stripped before the program is added: stripping afterwards would remove the program.
  await writeFile(join(sea, name, 'bin/node'), strip(await readFile(await platformNode(platform, scratch))), {
    mode: 0o755,
  })
  await writeFile(join(sea, name, 'bin/node.ok'), '')
  return home
}

function strip(binary: Buffer): Buffer {
  try {
    return stripElf(binary)
  } catch (error) {
    if (!(error instanceof NotStrippable)) throw error
    process.stderr.write(`Node's binary is packed unstripped: ${error.message}\n`)
    return binary
  }
}

async function runPackager(
  pkg: string,
  directory: string,
  output: string,
  home: string,
  platform: string,
): Promise<void> {
  const target = `node${node}-${platform.replace('darwin', 'macos')}`
  const environment = { ...process.env, HOME: home, USERPROFILE: home, TMPDIR: home, NODE_OPTIONS: '' }
  await promisify(execFile)(process.execPath, [pkg, directory, '--sea', '--targets', target, '--output', output], {
    cwd: directory,
    env: environment,
    maxBuffer: 64e6,
  })
}

/**
 * Linux caches a new file in units of the size of the writes, and maps a whole unit when a part of it is read. pkg writes
 * everything in one write: the same gateway then has 33 MB more resident memory until the machine is restarted.
 */
async function copyInPieces(from: string, to: string): Promise<void> {
  const piece = { highWaterMark: 64 * 1024 }
  await pipeline(createReadStream(from, piece), createWriteStream(to, { ...piece, mode: 0o755 }))
}

async function refuseLarge(file: string): Promise<void> {
  const { size } = await stat(file)
  if (size > largestBytes) throw new Error(`The executable has ${size} bytes; at most ${largestBytes} are allowed.`)
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

if (import.meta.main) {
  const help = `npm run package [-- --platform PLATFORM]

Puts the gateway into one executable: dist/spgw, or dist/spgw-PLATFORM where that is not this machine's.

  --platform PLATFORM   linux-x64, linux-arm64 or darwin-x64
`
  const { values } = readFlags(help, { options: { platform: { type: 'string', default: hostPlatform() } } })
  const { platform } = values
  const report = (step: string): void => void process.stderr.write(`${step}\n`)
  const path = join(root, platform === hostPlatform() ? 'dist/spgw' : `dist/spgw-${platform}`)
  const executable = await packageExecutable(path, { platform }, report)
  const { size } = await stat(executable)
  process.stdout.write(`${executable}: ${(size / 1e6).toFixed(1)} MB, ${platform}, Node ${node}\n`)
}
