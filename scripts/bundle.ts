import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { keepSmallZodApart, leaveOutHttp2, leaveOutLocales, requireBuiltins } from './bundle-plugins.ts'

const root = join(import.meta.dirname, '..')

/** Name of the bundled file → source. They lie side by side: `src/daemon/threads.ts` counts on these names. */
const threads: Record<string, string> = {
  'store-thread': join(root, 'src/store/thread.ts'),
  'backup-thread': join(root, 'src/store/backup-thread.ts'),
  'gateway-thread': join(root, 'src/gateway/thread.ts'),
}

/** better-sqlite3's binary under the name that `src/daemon/native-binding.ts` reads. */
export const addonName = 'better-sqlite3.node'

/** Libraries in CommonJS call `require` for Node's own modules, which an ES module does not have. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

export interface BundleOptions {
  /** Whose addon goes in: `linux-x64`. */
  platform?: string
  /** Only what is made for tests holds fault points (src/core/fault-point.ts). */
  forTests?: boolean
}

/**
 * Bundles the program and its threads into `outputDirectory`, wiped first, and puts the addon beside them.
 * Returns esbuild's account of what went in.
 */
export async function bundle(outputDirectory: string, options: BundleOptions = {}): Promise<Metafile> {
  const { platform = hostPlatform(), forTests = false } = options
  await rm(outputDirectory, { recursive: true, force: true })
  await mkdir(outputDirectory, { recursive: true })
  const common = buildOptions(outputDirectory, forTests)
  const [program, ofThreads] = await Promise.all([
    // Split at every `import()`: what a process does not use it does not hold in memory.
    build({
      ...common,
      entryPoints: { main: join(root, 'src/main.ts') },
      format: 'esm',
      splitting: true,
      chunkNames: '[name]-[hash]',
      banner: { js: banner },
      plugins: [leaveOutHttp2, requireBuiltins, keepSmallZodApart, leaveOutLocales],
    }),
    // A thread is one script: the packaged executable starts it from its text (src/daemon/threads.ts).
    build({
      ...common,
      entryPoints: threads,
      format: 'cjs',
      outExtension: { '.js': '.cjs' },
      plugins: [leaveOutHttp2],
    }),
  ])
  await writeFile(
    join(outputDirectory, 'package.json'),
    `${JSON.stringify({ name: 'spgw', type: 'module', bin: 'main.js' })}\n`,
  )
  await copyFile(addonSource(platform), join(outputDirectory, addonName))
  return {
    inputs: { ...program.metafile.inputs, ...ofThreads.metafile.inputs },
    outputs: { ...program.metafile.outputs, ...ofThreads.metafile.outputs },
  }
}

function buildOptions(outdir: string, forTests: boolean) {
  return {
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node26',
    // White space and syntax only: names stay readable in stack traces. Not `keepNames`: it wraps every closure as it is made.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    define: { __BUNDLED__: 'true', __FAULT_POINTS__: String(forTests) },
    metafile: true,
    logLevel: 'warning',
  } as const satisfies BuildOptions
}

export function hostPlatform(): string {
  return `${process.platform}-${process.arch}`
}

function addonSource(platform: string): string {
  return join(root, 'node_modules/better-sqlite3/prebuilds', `${platform}.node`)
}
