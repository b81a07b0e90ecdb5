import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { codeFile, compileSkipper } from '../../scripts/wasm.ts'

it('the WebAssembly is what its source makes (npm run wasm)', async () => {
  expect(await readFile(join(import.meta.dirname, '../..', codeFile), 'utf8')).toBe(await compileSkipper())
})
