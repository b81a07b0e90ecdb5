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
  // Where addons would be unpacked. For a user without an entry and without `HOME` it throws, and nothing would start.
  ['process.env.PKG_NATIVE_CACHE_PATH || path.join(homedir(), ".cache")', '""'],
]

/**
 * Node writes the path of the start-up code into the executable as it stands in the configuration, and it lies in a directory
 * with a random name: two builds would differ. pkg runs Node in that directory, so its name alone leads there.
 */
const pathWritten: readonly [from: string, to: string] = ['main: bootstrapPath,', "main: 'sea-main.js',"]

/** Copies pkg into `work`, with start-up code that loads less. Returns the script that runs it. */
export async function thinPackager(root: string, work: string): Promise<string> {
  // Inside the project, so that Node finds pkg's own dependencies in node_modules.
  const copy = join(work, 'packager')
  await cp(join(root, 'node_modules/@yao-pkg/pkg'), copy, { recursive: true })
  const start = join(copy, 'prelude/sea-bootstrap.bundle.js')
  await writeFile(start, replaceEach(await readFile(start, 'utf8'), thinned))
  const maker = join(copy, 'lib-es5/sea.js')
  await writeFile(maker, replaceEach(await readFile(maker, 'utf8'), [pathWritten]))
  return join(copy, 'lib-es5/bin.js')
}

function replaceEach(code: string, replacements: readonly (readonly [from: string, to: string])[]): string {
  return replacements.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`pkg's code has changed: it does not contain ${from}`)
    return text.replaceAll(from, to)
  }, code)
}
