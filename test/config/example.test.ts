import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { loadSettings } from '../../src/config/load.ts'
import { sectionNames, settingNames } from '../../src/config/schema.ts'

const file = join(import.meta.dirname, '../../config.example.yaml')

describe('config.example.yaml', () => {
  const document = parseDocument(readFileSync(file, 'utf8'))

  it('names every setting and no other', () => {
    const settings = Object.entries(document.toJS()).filter(([section]) => sectionNames.includes(section))
    expect(leaves(Object.fromEntries(settings))).toEqual([...settingNames])
  })

  it('shows the defaults', () => {
    const flags = { dataDir: tmpdir() }
    expect(loadSettings({ file, environment: {}, flags })).toEqual(loadSettings({ environment: {}, flags }))
  })
})

function leaves(tree: Record<string, unknown>, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? leaves(value as Record<string, unknown>, `${prefix}${name}.`)
      : [`${prefix}${name}`],
  )
}
