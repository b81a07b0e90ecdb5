import type { Metafile } from 'esbuild'
import type { Violation } from './modules.ts'

export interface BundleLimit {
  /** Sources whose bundles are loaded together, from the root of the project. */
  entries: readonly string[]
  /** Of script text, everything that the entries import at once included. */
  bytes: number
  /** Parts of paths of sources that have no place there. */
  without: readonly string[]
}

/** What a thread, or the command that serves, holds in memory from its start. */
export function checkBundle(metafile: Metafile, { entries, bytes, without }: BundleLimit): Violation[] {
  const loaded = new Set<string>()
  for (const entry of entries) {
    const output = Object.keys(metafile.outputs).find((path) => metafile.outputs[path]?.entryPoint === entry)
    if (output === undefined) return [`${entry} is no entry of the bundle`]
    follow(metafile, output, loaded)
  }
  const outputs = [...loaded].flatMap((path) => metafile.outputs[path] ?? [])
  const size = outputs.reduce((sum, output) => sum + output.bytes, 0)
  const sources = outputs.flatMap(({ inputs }) => Object.keys(inputs))
  const name = entries.at(-1)
  return [
    ...(size > bytes ? [`${name} loads ${size} bytes of script; at most ${bytes} are allowed`] : []),
    ...without.filter((part) => sources.some((source) => source.includes(part))).map((part) => `${name} loads ${part}`),
  ]
}

function follow({ outputs }: Metafile, path: string, loaded: Set<string>): void {
  if (loaded.has(path)) return
  loaded.add(path)
  for (const { path: next, kind } of outputs[path]?.imports ?? [])
    if (kind !== 'dynamic-import' && next in outputs) follow({ inputs: {}, outputs }, next, loaded)
}
