import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { thinPackager } from '../../scripts/thin-packager.ts'

const root = join(import.meta.dirname, '../..')

it('leaves out of the start of the executable, and of its threads, what is never used there', async () => {
  const work = await mkdtemp(join(tmpdir(), 'thin-packager-'))
  try {
    await thinPackager(root, work)
    const start = await readFile(join(work, 'packager/prelude/sea-bootstrap.bundle.js'), 'utf8')
    expect(start).not.toMatch(/require\("(zlib|child_process)"\)/)
    expect(start).not.toContain('} = require("crypto")')
    // A path in it would be another one in each build.
    expect(await readFile(join(work, 'packager/lib-es5/sea.js'), 'utf8')).toMatch(/main: 'sea-main\.js',\s+output/)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
})
