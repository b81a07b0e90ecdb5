import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ConsoleBundle } from '../../scripts/bundle-console.ts'
import { deriveContract } from '../../scripts/derive-contract.ts'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { releasedBundle } from '../support/bundles.ts'
import { readModules } from './checks/modules.ts'

/** Of script, gzipped, before the page draws anything. */
const firstScriptBytes = 200_000

let directory: string
let bundled: ConsoleBundle
beforeAll(async () => {
  const released = await releasedBundle()
  directory = join(released.directory, 'console')
  bundled = released.described.consolePage
})

describe("the console's page", () => {
  it('asks for little before it draws', () => {
    expect(bundled.firstScriptBytes).toBeGreaterThan(10_000)
    expect(bundled.firstScriptBytes).toBeLessThan(firstScriptBytes)
  })

  it('holds the contract as data, and none of its schemas', () => {
    const sources = Object.keys(bundled.metafile.inputs)
    expect(sources.some((source) => source.includes('contract:spgw:contract'))).toBe(true)
    expect(sources.filter((source) => source.includes('node_modules/zod/'))).toEqual([])
    expect(sources.filter((source) => /^src\/(?!console\/app\/|admin\/|core\/)/.test(source))).toEqual([])
  })

  it('has nothing inline, nothing from elsewhere, and a small form beside each text', async () => {
    const page = await readFile(join(directory, 'index.html'), 'utf8')
    expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)| on\w+=|https?:/)
    const assets = await readdir(join(directory, 'assets'))
    for (const name of assets.filter((one) => /\.(js|css)$/.test(one))) {
      expect(name).toMatch(/-[A-Z0-9]{8}\.(js|css)$/)
      expect(assets).toContain(`${name}.br`)
      expect(assets).toContain(`${name}.gz`)
    }
    expect(assets.some((name) => name.endsWith('.woff2'))).toBe(true)
  })
})

describe('the contract as the console has it', () => {
  const derived = new Map(deriveContract().map((operation) => [operation.name, operation]))

  it('knows a switch from a text, and what may be taken off again', () => {
    const field = (name: string) => derived.get('providers.edit')?.fields.find((one) => one.name === name)
    expect(field('allowPrivate')).toMatchObject({ shape: 'boolean', nullable: true })
    expect(field('proxy')).toMatchObject({ shape: 'text', nullable: true })
    expect(field('baseUrl')).toMatchObject({ shape: 'text', nullable: false })
  })

  it('is every operation, with every field of its input', () => {
    // But what is done at the machine's command line alone.
    const offered = listOperations().filter(({ meta }) => meta.onMachine !== true)
    expect(derived.size).toBe(offered.length)
    for (const { name, path, meta, input } of offered) {
      const operation = derived.get(name)
      expect(operation?.path).toEqual(path)
      expect(operation?.meta).toEqual(meta)
      expect(operation?.fields.map((field) => field.name)).toEqual(Object.keys(input.shape))
    }
  })

  it('is all that the page names', () => {
    const named =
      /(?:operation=|useMay\(|useOperation\(|operationNamed\(|findOperation\(|operation: )['"]([a-z-]+(?:\.[a-z-]+)*)['"]/g
    const found = readModules('src/console/app').flatMap(({ path, text }) =>
      [...text.matchAll(named)].map(([, name = '']) => ({ path, name })),
    )
    expect(found.length).toBeGreaterThan(20)
    expect(found.filter(({ name }) => !derived.has(name))).toEqual([])
  })

  it('says of a field what a form needs', () => {
    const field = (operation: string, name: string) => derived.get(operation)?.fields.find((one) => one.name === name)
    expect(field('providers.add', 'credential')).toMatchObject({ secret: true, required: false, prompt: 'Credential' })
    expect(field('routes.add', 'targets')).toMatchObject({ shape: 'list', syntax: 'target', flag: 'target' })
    expect(field('routes.add', 'strategy')).toMatchObject({ choices: ['priority', 'weighted', 'latency', 'cost'] })
    expect(field('routes.add', 'retries')).toMatchObject({ shape: 'number', minimum: 0, maximum: 10 })
    expect(field('keys.create', 'tags')).toMatchObject({ shape: 'pairs', syntax: 'pairs' })
    expect(field('keys.create', 'project')).toMatchObject({ fallback: 'default', required: false })
    expect(field('policies.add', 'lanes')).toMatchObject({ shape: 'list', choices: ['openai', 'anthropic', 'gemini'] })
    expect(field('providers.edit', 'organization')).toMatchObject({ nullable: true, shape: 'text' })
  })
})
