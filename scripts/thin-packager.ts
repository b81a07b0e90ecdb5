import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * What pkg's start loads before the program and in each thread, and what stands in its place: they are for what is not done here.
 * Its file system is not compressed, no addon lies in it (`src/daemon/native-binding.ts`), and no process is started with this
 * executable as its Node. Loading them took a tenth of a short command.
 */
const thinned: readonly [from: string, to: string][] = [
  ['var zlib = require("zlib");', 'var zlib = {};'],
  [
    'var { createHash } = require("crypto");',
    'var createHash = function(name) { return require("crypto").createHash(name); };',
  ],
  ['var childProcess = require("child_process");', 'var childProcess = {};'],
  ['shared.patchChildProcess(entrypoint2);', ''],
]

/** Copies pkg below `work`, with a start that loads less. Returns the script that runs it. */
export async function thinPackager(root: string, work: string): Promise<string> {
  // Below the project, so that what it needs itself is found where npm has put it.
  const copy = join(work, 'packager')
  await cp(join(root, 'node_modules/@yao-pkg/pkg'), copy, { recursive: true })
  const start = join(copy, 'prelude/sea-bootstrap.bundle.js')
  await writeFile(start, thin(await readFile(start, 'utf8')))
  return join(copy, 'lib-es5/bin.js')
}

function thin(start: string): string {
  return thinned.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`pkg begins in another way now: there is no ${from}`)
    return text.replaceAll(from, to)
  }, start)
}
