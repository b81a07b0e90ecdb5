import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'

const root = join(import.meta.dirname, '..')

/** Name of the bundled file → source. They lie side by side: `src/daemon/threads.ts` counts on these names. */
export const entries: Record<string, string> = {
  main: join(root, 'src/main.ts'),
  'store-thread': join(root, 'src/store/thread.ts'),
  'gateway-thread': join(root, 'src/gateway/thread.ts'),
}

/** better-sqlite3's binary under the name that `src/daemon/native-binding.ts` reads. */
export const addonName = 'better-sqlite3.node'

/** Libraries in CommonJS call `require` for Node's own modules, which an ES module does not have. */
const banner =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"

/**
 * Bundles each entry with all that it imports into `outputDirectory`, wiped first, and puts the addon for `platform`
 * (`linux-x64`) beside them. Only what is made for tests holds fault points (src/core/fault-point.ts). Returns esbuild's account of what went in.
 */
export async function bundle(
  outputDirectory: string,
  platform: string = hostPlatform(),
  sources: Record<string, string> = entries,
  forTests = false,
): Promise<Metafile> {
  await rm(outputDirectory, { recursive: true, force: true })
  await mkdir(outputDirectory, { recursive: true })
  const { metafile } = await build({
    entryPoints: sources,
    outdir: outputDirectory,
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    // White space and syntax only: names stay readable in stack traces. Not `keepNames`: it wraps every closure as it is made.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    define: { __BUNDLED__: 'true', __FAULT_POINTS__: String(forTests) },
    banner: { js: banner },
    metafile: true,
    logLevel: 'warning',
  })
  await writeFile(
    join(outputDirectory, 'package.json'),
    `${JSON.stringify({ name: 'spgw', type: 'module', bin: 'main.js' })}\n`,
  )
  await copyFile(addonSource(platform), join(outputDirectory, addonName))
  return metafile
}

export function hostPlatform(): string {
  return `${process.platform}-${process.arch}`
}

function addonSource(platform: string): string {
  return join(root, 'node_modules/better-sqlite3/prebuilds', `${platform}.node`)
}
