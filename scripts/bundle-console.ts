import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from 'esbuild'
import { deriveContract } from './derive-contract.ts'

const root = join(import.meta.dirname, '..')
const entry = 'src/console/app/main.tsx'
const icon = 'src/console/app/icon.svg'

/** Files that get compressed copies. */
const compressible = /\.(js|css|html|svg|json)$/

export interface ConsoleBundle {
  metafile: Metafile
  /** Gzipped bytes of script that the page loads before it draws anything. */
  firstScriptBytes: number
}

/**
 * Bundles the console's page into `directory`: `index.html`, and in `assets/` files with their hash in the name, so that a
 * browser may cache them for ever. Each file has compressed copies (`.br`, `.gz`), so that nothing is compressed when it is
 * served.
 */
export async function bundleConsole(directory: string): Promise<ConsoleBundle> {
  await rm(directory, { recursive: true, force: true })
  const assets = join(directory, 'assets')
  await mkdir(assets, { recursive: true })
  const { metafile, outputFiles } = await build(buildOptions(assets))
  const first = firstFiles(metafile)
  const files = new Map(outputFiles.map((file) => [`assets/${basename(file.path)}`, file]))
  await Promise.all([...files].map(([path, { contents }]) => writeWithForms(join(directory, path), contents)))
  await writeWithForms(join(directory, 'index.html'), Buffer.from(writePage(first)))
  return { metafile, firstScriptBytes: await sumGzipped(first.scripts, files) }
}

function buildOptions(outdir: string) {
  return {
    absWorkingDir: root,
    // The names of pieces come from their modules' paths too: the same wherever `node_modules` leads, as in a second work tree.
    preserveSymlinks: true,
    entryPoints: { app: entry, icon },
    outdir,
    bundle: true,
    format: 'esm',
    splitting: true,
    platform: 'browser',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    publicPath: '/assets',
    loader: { '.woff2': 'file', '.svg': 'copy' },
    jsx: 'automatic',
    minify: true,
    legalComments: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [provideContract],
    metafile: true,
    write: false,
    logLevel: 'warning',
  } as const satisfies BuildOptions
}

/** `spgw:contract` is the contract as data, derived from the current schemas. */
const provideContract: Plugin = {
  name: 'provide-contract',
  setup(build) {
    build.onResolve({ filter: /^spgw:contract$/ }, ({ path }) => ({ path, namespace: 'contract' }))
    build.onLoad({ filter: /./, namespace: 'contract' }, () => ({
      contents: JSON.stringify(deriveContract()),
      loader: 'json',
    }))
  },
}

interface FirstFiles {
  icon: string
  script: string
  style: string | null
  /** The script and everything that it imports statically. */
  scripts: string[]
}

function firstFiles(metafile: Metafile): FirstFiles {
  const { outputs } = metafile
  const [script, output] = outputOf(metafile, entry)
  const scripts = new Set<string>()
  const follow = (path: string): void => {
    if (scripts.has(path)) return
    scripts.add(path)
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') follow(next)
  }
  follow(script)
  const style = output.cssBundle
  return {
    icon: addressOf(outputOf(metafile, icon)[0]),
    script: addressOf(script),
    style: style === undefined ? null : addressOf(style),
    scripts: [...scripts].map(addressOf),
  }
}

function outputOf({ outputs }: Metafile, source: string): [path: string, output: Metafile['outputs'][string]] {
  const found = Object.entries(outputs).find(([, output]) => output.entryPoint === source)
  if (found === undefined) throw new Error(`${source} is no entry of the bundle`)
  return found
}

function addressOf(output: string): string {
  return `assets/${basename(output)}`
}

/** Without inline script or style, so that the content security policy can forbid both. */
function writePage({ icon, script, style, scripts }: FirstFiles): string {
  const preloads = scripts.filter((path) => path !== script)
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer">',
    '<meta name="robots" content="noindex">',
    '<title>spgw</title>',
    `<link rel="icon" type="image/svg+xml" href="/${icon}">`,
    ...(style === null ? [] : [`<link rel="stylesheet" href="/${style}">`]),
    ...preloads.map((path) => `<link rel="modulepreload" href="/${path}">`),
    `<script type="module" src="/${script}"></script>`,
    '</head>',
    '<body>',
    '<div id="app"></div>',
    '<noscript>The console needs JavaScript. The command line does not: spgw --help</noscript>',
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

async function writeWithForms(path: string, contents: Uint8Array): Promise<void> {
  await writeFile(path, contents)
  if (!compressible.test(path)) return
  const parameters = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: contents.length,
  }
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(contents, { params: parameters }),
    promisify(gzip)(contents, { level: constants.Z_BEST_COMPRESSION }),
  ])
  await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)])
}

async function sumGzipped(paths: readonly string[], files: ReadonlyMap<string, OutputFile>): Promise<number> {
  const sizes = await Promise.all(
    paths.map(async (path) => (await promisify(gzip)(files.get(path)?.contents ?? '')).length),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

if (import.meta.main) {
  const directory = process.argv[2] ?? join(root, '.build/console')
  const { firstScriptBytes } = await bundleConsole(directory)
  process.stdout.write(`${directory}: first script ${(firstScriptBytes / 1000).toFixed(1)} kB gzipped\n`)
}
