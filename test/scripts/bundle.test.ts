import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Metafile } from 'esbuild'
import { beforeAll, expect, it } from 'vitest'
import packageDescription from '../../package.json' with { type: 'json' }
import { licensesName } from '../../scripts/bundle.ts'
import { faultPoints } from '../../src/core/fault-point.ts'
import type { Notice } from '../../src/daemon/commands/licenses-command.ts'
import { bundledFrom, releasedBundle } from '../support/bundles.ts'

const { dependencies } = packageDescription

let directory: string
let metafile: Metafile
beforeAll(async () => {
  const released = await releasedBundle()
  directory = released.directory
  metafile = released.described.metafile
})

const traces = ['SPGW_FAULT_POINT', 'FaultPoint', ...faultPoints]

async function tracesIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')))
  expect(texts.length).toBeGreaterThan(2)
  return traces.filter((trace) => texts.some((text) => text.includes(trace)))
}

it('leaves nothing of the fault points in what is released', async () => {
  expect(await tracesIn(directory)).toEqual([])
})

it('loads for a command the schemas of its own area alone', () => {
  const { outputs } = metafile
  const loaded = new Set<string>()
  const load = (file: string) => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === 'import-statement') load(path)
  }
  const loadEntry = (source: string) => {
    const file = Object.keys(outputs).find((name) => outputs[name]?.entryPoint === source)
    expect([source, file]).toEqual([source, expect.any(String)])
    load(file ?? '')
  }
  loadEntry('cli/operation-bundle.ts')
  loadEntry('src/admin/contract/load-input.ts')
  loadEntry('src/admin/contract/keys/keys.ts')
  const sources = [...loaded].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}))
  const contract = sources.filter((source) => source.startsWith('src/admin/contract/'))
  expect(contract).toContain('src/admin/contract/keys/keys.ts')
  for (const area of ['requests/requests', 'providers/providers', 'index'])
    expect(contract).not.toContain(`src/admin/contract/${area}.ts`)
})

it('holds the license of each package that is bundled, of Node and of SQLite', async () => {
  const notices: Notice[] = JSON.parse(await readFile(join(directory, licensesName), 'utf8'))
  const names = notices.map(({ name }) => name)
  const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.keys(inputs).flatMap((input) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []),
  )
  expect(bundled.length).toBeGreaterThan(1000)
  expect(names).toEqual(expect.arrayContaining([...new Set([...bundled, ...Object.keys(dependencies)])]))
  expect(names.slice(0, 3)).toEqual(['spgw', 'Node.js', 'SQLite'])
  // The console's packages, too.
  expect(names).toEqual(expect.arrayContaining(['react-dom', 'lucide-react', '@yao-pkg/pkg']))
  for (const { name, version, license, text } of notices) {
    expect({ name, version, license }).toEqual({
      name,
      version: expect.stringMatching(/^\d/),
      license: expect.any(String),
    })
    expect(text, name).toMatch(/copyright/i)
  }
})

it('names no module by where the project lies, since the names of the pieces are made from these names', () => {
  const root = join(import.meta.dirname, '../..')
  expect(Object.keys(metafile.inputs).filter((input) => input.includes(root))).toEqual([])
})

it('is made anew for tests once anything changes that it is made from', () => {
  const own = Object.keys(metafile.inputs).filter((input) => !/(^|:)(\.\.\/)*node_modules\//.test(input))
  expect(own.length).toBeGreaterThan(100)
  expect(own.filter((input) => !bundledFrom.includes(input.split('/')[0] ?? ''))).toEqual([])
})
