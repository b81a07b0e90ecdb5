import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { build, type Metafile, type OutputFile, transform } from 'esbuild'
import { bundleConsole, type ConsoleBundle } from './bundle-console.ts'
import { buildOptions, threadOptions, threads } from './bundle-options.ts'
import { collectNotices } from './licenses.ts'

const root = join(import.meta.dirname, '..')

/** better-sqlite3's binary under the name that `src/daemon/native-binding.ts` reads. */
export const addonName = 'better-sqlite3.node'

/** The name that `src/daemon/commands/licenses-command.ts` reads. */
export const licensesName = 'licenses.json'

export interface BundleOptions {
  /** Whose addon goes in: `linux-x64`. */
  platform?: string
  /** Only builds for tests contain fault points (src/core/fault-point.ts). */
  forTests?: boolean
  /** The console's page, where it has been made already. */
  consoleFrom?: { directory: string; consolePage: ConsoleBundle }
}

export interface Bundle {
  /** esbuild's, of program and threads. */
  metafile: Metafile
  consolePage: ConsoleBundle
}

/**
 * Empties `outputDirectory`, then bundles the program and its threads into it. Adds the addon, the console's page
 * (`console/`), and the licenses of everything that it contains (`licenses.json`).
 */
export async function bundle(outputDirectory: string, options: BundleOptions = {}): Promise<Bundle> {
  const { platform = hostPlatform(), forTests = false, consoleFrom } = options
  await rm(outputDirectory, { recursive: true, force: true })
  await mkdir(outputDirectory, { recursive: true })
  const addon = await readFile(join(root, 'node_modules/better-sqlite3/prebuilds', `${platform}.node`))
  const common = buildOptions(outputDirectory, forTests, createHash('sha256').update(addon).digest('hex'))
  const [program, ofThreads, consolePage] = await Promise.all([
    bundleProgram(common),
    bundleThreads(common),
    consoleFrom === undefined
      ? bundleConsole(join(outputDirectory, 'console'))
      : copyConsole(consoleFrom, join(outputDirectory, 'console')),
  ])
  await writeFile(join(outputDirectory, 'package.json'), `${JSON.stringify({ name: 'spgw', bin: 'main.js' })}\n`)
  await writeFile(join(outputDirectory, addonName), addon)
  const notices = collectNotices([program, ofThreads, consolePage.metafile], platform)
  await writeFile(join(outputDirectory, licensesName), JSON.stringify(notices))
  const metafile = {
    inputs: { ...program.inputs, ...ofThreads.inputs },
    outputs: { ...program.outputs, ...ofThreads.outputs },
  }
  return { metafile, consolePage }
}

async function copyConsole(
  { directory, consolePage }: NonNullable<BundleOptions['consoleFrom']>,
  to: string,
): Promise<ConsoleBundle> {
  await cp(directory, to, { recursive: true })
  return consolePage
}

/**
 * Split at every `import()`, so that a process loads only what it uses. esbuild can split only ES modules, so the pieces are
 * converted to CommonJS afterwards. As ES modules they took 12 MB more, mainly because importing `node:http` calls all of its
 * getters, some of which load Node's own fetch and HTTP/2.
 */
async function bundleProgram(common: ReturnType<typeof buildOptions>): Promise<Metafile> {
  const { metafile, outputFiles } = await build({
    ...common,
    entryPoints: { main: join(root, 'src/main.ts') },
    format: 'esm',
    splitting: true,
    chunkNames: '[name]-[hash]',
    write: false,
  })
  for (const file of outputFiles) await writeScript(file, await asCommonJs(file.text), metafile)
  return metafile
}

async function bundleThreads(common: ReturnType<typeof buildOptions>): Promise<Metafile> {
  const { metafile, outputFiles } = await build({ ...threadOptions(common), entryPoints: threads, write: false })
  for (const file of outputFiles) await writeScript(file, shortenModuleNames(file.text), metafile)
  return metafile
}

async function writeScript({ path }: OutputFile, code: string, { outputs }: Metafile): Promise<void> {
  const output = outputs[relative(process.cwd(), path)]
  if (output === undefined) throw new Error(`${path} is no output of the bundle`)
  const written = await shortenLocalNames(code)
  output.bytes = Buffer.byteLength(written)
  await writeFile(path, written)
}

/**
 * esbuild names the function that runs a module, where that is run when it is needed first, by the module's path, and its variable by
 * the file. Nobody reads these names, and in a data-plane thread they are 45 kB of text.
 */
function shortenModuleNames(code: string): string {
  if (code.includes('m_$')) throw new Error('a name of the bundle begins like the short ones of its modules')
  const runners = Array.from(code.matchAll(/\b(\w+)=__(?:esm|commonJS)\(/g), ([, name = '']) => name)
  const short = new Map(runners.map((name, index) => [name, `m_$${index.toString(36)}`]))
  return code
    .replaceAll(/(?<=__(?:esm|commonJS)\(\{)"[^"]+"(?=\()/g, '""')
    .replaceAll(/(?<![\w$.])(?:init|require)_\w+/g, (name) => short.get(name) ?? name)
}

/**
 * Shortens the names of parameters and local variables, a fifth of the text: no stack trace shows them. It keeps the names at the top,
 * and all names of a script that looks at those of its classes, as some libraries do.
 */
async function shortenLocalNames(code: string): Promise<string> {
  if (code.includes('constructor.name')) return code
  return (await transform(code, { platform: 'node', minifyWhitespace: true, minifyIdentifiers: true })).code
}

async function asCommonJs(text: string): Promise<string> {
  const options = { format: 'cjs', platform: 'node', minifyWhitespace: true } as const
  return (await transform(text, { ...options, supported: { 'dynamic-import': false } })).code
}

export function hostPlatform(): string {
  return `${process.platform}-${process.arch}`
}
