import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type BuildOptions, build, type Metafile, type OutputFile, transform } from 'esbuild'
import { bundleConsole, type ConsoleBundle } from './bundle-console.ts'
import {
  deriveCatalog,
  keepSmallZodApart,
  keepVersionOnly,
  leaveOutBuilders,
  leaveOutFetch,
  leaveOutHttp2,
  leaveOutInkDevtools,
  leaveOutLocales,
  leaveOutParserTables,
  leaveOutPrograms,
  leaveOutSecondParser,
  leaveOutSocks,
  leaveOutSqliteTables,
  leaveOutUndiciLog,
  makeYogaAtOnce,
  takeEsModules,
} from './bundle-plugins.ts'
import { collectNotices } from './licenses.ts'

const root = join(import.meta.dirname, '..')

/** Name of the bundled file → source. `src/daemon/threads.ts` expects these names in its own directory. */
const threads: Record<string, string> = {
  'store-thread': join(root, 'src/store/thread.ts'),
  'backup-thread': join(root, 'src/store/backup/backup-thread.ts'),
  'cluster-thread': join(root, 'src/cluster/thread.ts'),
  'manifest-thread': join(root, 'src/manifest/thread.ts'),
  'gateway-thread': join(root, 'src/gateway/thread/thread.ts'),
  // Sent to those threads once a policy needs it (src/gateway/thread/pattern-engine.ts).
  'pattern-engine': join(root, 'src/policy/content/pattern-seeker.ts'),
}

/** better-sqlite3's binary under the name that `src/daemon/native-binding.ts` reads. */
export const addonName = 'better-sqlite3.node'

/** The name that `src/daemon/licenses-command.ts` reads. */
export const licensesName = 'licenses.json'

/** One script is strict as a whole: without this, esbuild says so again in each of its modules, 6 kB of text in every thread. */
const strictOnce: Pick<BuildOptions, 'tsconfigRaw' | 'banner'> = {
  tsconfigRaw: { compilerOptions: { strict: false, verbatimModuleSyntax: true } },
  banner: { js: '"use strict";' },
}

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
    // Each thread is one script, because the packaged executable starts it from its text.
    build({
      ...common,
      ...strictOnce,
      entryPoints: threads,
      format: 'cjs',
      plugins: [...common.plugins, leaveOutFetch],
    }),
    consoleFrom === undefined
      ? bundleConsole(join(outputDirectory, 'console'))
      : copyConsole(consoleFrom, join(outputDirectory, 'console')),
  ])
  await writeFile(join(outputDirectory, 'package.json'), `${JSON.stringify({ name: 'spgw', bin: 'main.js' })}\n`)
  await writeFile(join(outputDirectory, addonName), addon)
  const notices = collectNotices([program, ofThreads.metafile, consolePage.metafile], platform)
  await writeFile(join(outputDirectory, licensesName), JSON.stringify(notices))
  const metafile = {
    inputs: { ...program.inputs, ...ofThreads.metafile.inputs },
    outputs: { ...program.outputs, ...ofThreads.metafile.outputs },
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
  await Promise.all(outputFiles.map((file) => writeAsCommonJs(file, common.outdir)))
  return metafile
}

async function writeAsCommonJs({ path, text }: OutputFile, directory: string): Promise<void> {
  const { code } = await transform(text, {
    format: 'cjs',
    platform: 'node',
    minifyWhitespace: true,
    supported: { 'dynamic-import': false },
  })
  await writeFile(join(directory, basename(path)), code)
}

function buildOptions(outdir: string, forTests: boolean, addonHash: string) {
  return {
    outdir,
    bundle: true,
    // A CommonJS module keeps its path as a name: the same text wherever `node_modules` leads, as in a second work tree.
    preserveSymlinks: true,
    platform: 'node',
    target: 'node26',
    // Names are kept for readable stack traces. Not with `keepNames`, which wraps every closure when it is created.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    define: {
      __BUNDLED__: 'true',
      __FAULT_POINTS__: String(forTests),
      __ADDON_HASH__: JSON.stringify(addonHash),
      'import.meta.dirname': '__dirname',
      // undici's flag for the copy inside Node: it leaves out an experimental parser, 180 KB of text in every thread.
      esbuildDetection: 'true',
      // React's production build.
      'process.env.NODE_ENV': '"production"',
    },
    plugins: [
      deriveCatalog,
      keepVersionOnly,
      leaveOutHttp2,
      leaveOutBuilders,
      leaveOutParserTables,
      leaveOutPrograms,
      leaveOutSecondParser,
      leaveOutSocks,
      leaveOutSqliteTables,
      leaveOutUndiciLog,
      takeEsModules,
      keepSmallZodApart,
      leaveOutLocales,
      leaveOutInkDevtools,
      makeYogaAtOnce,
    ],
    metafile: true,
    logLevel: 'warning',
  } as const satisfies BuildOptions
}

export function hostPlatform(): string {
  return `${process.platform}-${process.arch}`
}
