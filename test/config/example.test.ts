import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { loadSettings } from '../../src/config/load.ts'
import { sectionNames, settingNames } from '../../src/config/schema.ts'
import { kindSpecs } from '../../src/manifest/kinds.ts'
import { secretFields } from '../../src/manifest/resource.ts'
import { entriesOf } from '../manifest/entries.ts'

const file = join(import.meta.dirname, '../../config.example.yaml')

describe('config.example.yaml', () => {
  const document = parseDocument(readFileSync(file, 'utf8'))

  it('names every setting and no other', () => {
    const settings = Object.entries(document.toJS()).filter(([section]) => sectionNames.includes(section))
    expect(leaves(Object.fromEntries(settings))).toEqual([...settingNames])
  })

  it('shows the defaults', () => {
    const flags = { dataDir: tmpdir() }
    expect({ ...loadSettings({ file, environment: {}, flags }), file: null }).toEqual(
      loadSettings({ environment: {}, flags }),
    )
  })

  it('shows every field of every resource, as comments too, with a value that is accepted', () => {
    const text = readFileSync(file, 'utf8').replaceAll(/^( {4,6})# (\w+: )/gm, (line, indent: string, start: string) =>
      ['project: ', 'environment: '].includes(start) ? line : `${indent}${start}`,
    )
    const shown = new Set<string>()
    for (const { kind, fields, credentials } of entriesOf(text, { OPENAI_API_KEY: 'sk-0123456789' })) {
      for (const name of Object.keys(fields)) shown.add(`${kind} ${name}`)
      if (credentials !== null) shown.add(`${kind} ${secretFields[kind]}`)
    }
    // Only an export has the hashes of keys. The time limits of a route are those of a provider.
    const missing = Object.entries(kindSpecs).flatMap(([kind, { fields }]) =>
      Object.keys(fields)
        .map((name) => `${kind} ${name}`)
        .filter((name) => !shown.has(name) && !shown.has(name.replace('route timeouts', 'provider timeouts'))),
    )
    expect(missing).toEqual(['key secrets'])
  })
})

function leaves(tree: Record<string, unknown>, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? leaves(value as Record<string, unknown>, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  )
}
