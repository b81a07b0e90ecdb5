import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../..')

/** `to` in place of `from`, which stands in the file once. */
export interface SourceChange {
  file: string
  from: string
  to: string
}

/** A module of the repository as it would be with these changes of the sources, bundled into the directory: a thread's script, or one to import. */
export async function bundleChanged(
  entry: string,
  changes: readonly SourceChange[],
  directory: string,
  as: 'thread' | 'module',
): Promise<URL> {
  const files = new Set(changes.map(({ file }) => file))
  const outfile = join(directory, as === 'thread' ? 'thread.cjs' : 'module.mjs')
  await build({
    entryPoints: [join(root, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node26',
    ...(as === 'thread'
      ? { format: 'cjs', define: { 'import.meta.dirname': '__dirname' } }
      : { format: 'esm', packages: 'external' }),
    logLevel: 'warning',
    plugins: [
      {
        name: 'change-sources',
        setup({ onLoad }) {
          onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
            const file = path.slice(root.length + 1)
            if (!files.has(file)) return
            const text = await readFile(path, 'utf8')
            const own = changes.filter((change) => change.file === file)
            return { contents: own.reduce(change, text), loader: 'ts' }
          })
        },
      },
    ],
  })
  return pathToFileURL(outfile)
}

function change(text: string, { file, from, to }: SourceChange): string {
  const [before = '', after, ...more] = text.split(from)
  if (after === undefined || more.length > 0) throw new Error(`${file} has this not once: ${from}`)
  return `${before}${to}${after}`
}
