import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')
const source = 'wasm/skip-value.ts'
/** Where its code lies, so that nothing needs the compiler to run or to be packaged. */
export const codeFile = 'src/core/skip-value-code.ts'

const options = [
  '-O3',
  '--converge',
  // No memory is ever taken, and nothing is thrown.
  ...['--runtime', 'stub', '--noAssert', '--use', 'abort='],
  ...['--enable', 'simd', '--enable', 'bulk-memory', '--initialMemory', '2'],
]

/** The text of `codeFile`. */
export async function compileSkipper(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'spgw-wasm-'))
  try {
    const file = join(directory, 'code.wasm')
    const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js')
    await promisify(execFile)(process.execPath, [compiler, source, ...options, '--outFile', file], { cwd: root })
    const lines = (await readFile(file)).toString('base64').match(/.{1,110}/g) ?? []
    return `/** WebAssembly, in base64: what \`npm run wasm\` makes of ${source}. */\nexport const skipValueCode = [\n${lines
      .map((line) => `  '${line}',\n`)
      .join('')}].join('')\n`
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

if (import.meta.main) await writeFile(join(root, codeFile), await compileSkipper())
