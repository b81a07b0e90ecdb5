import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type BuildOptions, build, type Metafile, type OutputFile, transform } from 'esbuild'
import { bundleConsole } from './bundle-console.ts'
import {
  deriveCatalog,
  keepSmallZodApart,
  leaveOutFetch,
  leaveOutHttp2,
  leaveOutInkDevtools,
  leaveOutLocales,
  leaveOutPrograms,
  leaveOutSocks,
  makeYogaAtOnce,
  takeEsModules,
} from './bundle-plugins.ts'
import { collectNotices } from './licenses.ts'

const root = join(import.meta.dirname, '..')

/** Name of the bundled file → source. They lie side by side: `src/daemon/threads.ts` counts on these names. */
const threads: Record<string, string> = {
  'store-thread': join(root, 'src/store/thread.ts'),
  'backup-thread': join(root, 'src/store/backup-thread.ts'),
  'gateway-thread': join(root, 'src/gateway/thread.ts'),
}

/** better-sqlite3's binary under the name that `src/daemon/native-binding.ts` reads. */
export const addonName = 'better-sqlite3.node'

/** The name that `src/daemon/licenses-command.ts` reads. */
export const licensesName = 'licenses.json'

export interface BundleOptions {
  /** Whose addon goes in: `linux-x64`. */
  platform?: string
  /** Only what is made for tests holds fault points (src/core/fault-point.ts). */
  forTests?: boolean
}

/**
 * Bundles the program and its threads into `outputDirectory`, wiped first, and puts the addon and the console's page
 * (`console/`) beside them, and the licenses of all that is in there (`licenses.json`).
 * Returns esbuild's account of what went in.
 */
export async function bundle(outputDirectory: string, options: BundleOptions = {}): Promise<Metafile> {
  const { platform = hostPlatform(), forTests = false } = options
  await rm(outputDirectory, { recursive: true, force: true })
  await mkdir(outputDirectory, { recursive: true })
  const addon = await readFile(join(root, 'node_modules/better-sqlite3/prebuilds', `${platform}.node`))
  const common = buildOptions(outputDirectory, forTests, createHash('sha256').update(addon).digest('hex'))
  const [program, ofThreads, consolePage] = await Promise.all([
    bundleProgram(common),
    // A thread is one script: the packaged executable starts it from its text.
    build({ ...common, entryPoints: threads, format: 'cjs', plugins: [...common.plugins, leaveOutFetch] }),
    bundleConsole(join(outputDirectory, 'console')),
  ])
  await writeFile(join(outputDirectory, 'package.json'), `${JSON.stringify({ name: 'spgw', bin: 'main.js' })}\n`)
  await writeFile(join(outputDirectory, addonName), addon)
  const notices = collectNotices([program, ofThreads.metafile, consolePage.metafile], platform)
  await writeFile(join(outputDirectory, licensesName), JSON.stringify(notices))
  return {
    inputs: { ...program.inputs, ...ofThreads.metafile.inputs },
    outputs: { ...program.outputs, ...ofThreads.metafile.outputs },
  }
}

/**
 * Split at every `import()`: what a process does not use it does not hold in memory. esbuild splits ES modules only, so
 * the pieces are turned into CommonJS afterwards: loading them as ES modules took 12 MB more, the most of it because an
 * import of `node:http` calls every getter that this has, and behind some lie Node's own fetch and HTTP/2.
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
    platform: 'node',
    target: 'node26',
    // White space and syntax only: names stay readable in stack traces. Not `keepNames`: it wraps every closure as it is made.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    define: {
      __BUNDLED__: 'true',
      __FAULT_POINTS__: String(forTests),
      __ADDON_HASH__: JSON.stringify(addonHash),
      'import.meta.dirname': '__dirname',
      // undici's word for the copy within Node, which has no parser on trial: 180 KB of text in every thread.
      esbuildDetection: 'true',
      // React as it is released.
      'process.env.NODE_ENV': '"production"',
    },
    plugins: [
      deriveCatalog,
      leaveOutHttp2,
      leaveOutPrograms,
      leaveOutSocks,
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
