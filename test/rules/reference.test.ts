import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { referencePages } from '../../scripts/reference.ts'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { errorCodes } from '../../src/core/errors.ts'
import { localCommands } from '../../src/local-commands.ts'
import { root } from './checks/modules.ts'

const directory = join(root, 'docs/reference')

describe('docs/reference', () => {
  let pages: Record<string, string>
  beforeAll(async () => {
    pages = await referencePages()
  })

  it('is in step with the code (npm run reference)', () => {
    expect(readdirSync(directory).sort()).toEqual(Object.keys(pages).sort())
    for (const [name, text] of Object.entries(pages)) expect(readFileSync(join(directory, name), 'utf8')).toBe(text)
  })

  it('has each error code, each operation on both pages, and each command of the machine', () => {
    for (const code of errorCodes) expect(pages['errors.md']).toContain(`| \`${code}\` | `)
    for (const { name, path } of listOperations()) {
      expect(pages['api.md']).toContain(`\`POST /api/${path.join('/')}\``)
      expect(pages['api.md']).toContain(`## ${name}\n`)
      expect(pages['cli.md']).toContain(`### spgw ${path.join(' ')}\n`)
    }
    for (const { name } of localCommands) expect(pages['cli.md']).toContain(`### spgw ${name}\n`)
  })
})
