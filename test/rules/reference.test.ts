import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { writeKindSettings } from '../../scripts/kind-settings.ts'
import { laneReference, refusedCall } from '../../scripts/lane-reference.ts'
import { referencePages } from '../../scripts/reference.ts'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { errorCodes } from '../../src/core/errors.ts'
import { lanes } from '../../src/lanes/index.ts'
import { localCommands } from '../../src/local-commands.ts'
import { providerKinds } from '../../src/providers/index.ts'
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

describe('docs/lanes.md', () => {
  const page = laneReference()

  it('is in step with the code (npm run reference)', () => {
    expect(readFileSync(join(root, 'docs/lanes.md'), 'utf8')).toBe(page)
  })

  it('has every endpoint, and a reason for every one that nobody serves', () => {
    for (const { endpoints } of lanes)
      for (const endpoint of endpoints) {
        const { method, path, served, why } = endpoint
        const call = method === 'SOCKET' ? `WebSocket \`${path}\`` : `${method} \`${path}\``
        const refusal = `- ${refusedCall(endpoint, endpoints)}: ${why}\n`
        expect(page).toContain(served === 'nobody' ? refusal : `| ${call} |`)
      }
  })

  it('calls nothing free that has a model write', () => {
    const free = new Set([...page.matchAll(/^\| .* \| `([\w.]+)` \| .* \| free \|$/gm)].map(([, name]) => name))
    for (const { operation, outputLimits, startedWork } of lanes.flatMap(({ endpoints }) => endpoints))
      if (outputLimits !== undefined || startedWork !== undefined) expect([...free]).not.toContain(operation)
  })
})

describe('src/admin/contract/providers/kind-settings.json', () => {
  it('is in step with what the provider kinds declare (npm run reference)', () => {
    const text = readFileSync(join(root, 'src/admin/contract/providers/kind-settings.json'), 'utf8')
    expect(text).toBe(writeKindSettings(providerKinds))
  })
})
