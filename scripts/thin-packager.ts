import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Modules that pkg's start-up code loads before the program and in each thread, and their replacements. They serve features that
 * are not used here: its file system is not compressed, contains no addon (`src/daemon/native-binding.ts`), and no process is
 * started with this executable as its Node. Loading them took a tenth of the time of a short command.
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

/** Copies pkg into `work`, with start-up code that loads less. Returns the script that runs it. */
export async function thinPackager(root: string, work: string): Promise<string> {
  // Inside the project, so that Node finds pkg's own dependencies in node_modules.
  const copy = join(work, 'packager')
  await cp(join(root, 'node_modules/@yao-pkg/pkg'), copy, { recursive: true })
  const start = join(copy, 'prelude/sea-bootstrap.bundle.js')
  await writeFile(start, thin(await readFile(start, 'utf8')))
  return join(copy, 'lib-es5/bin.js')
}

function thin(start: string): string {
  return thinned.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`pkg's start-up code has changed: it does not contain ${from}`)
    return text.replaceAll(from, to)
  }, start)
}
