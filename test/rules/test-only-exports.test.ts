import { describe, expect, it } from 'vitest'
import { parseModule, readModules } from './checks/modules.ts'
import { findTestOnlyExports } from './checks/test-only-exports.ts'

/**
 * Parts of a file that its tests call directly, because the whole needs a terminal, a disk, a clock or a provider. To be
 * lowered when one goes; before it is raised, look for a test of what other modules call.
 */
const mostParts = 20

describe('exports that only tests import', () => {
  const own = parseModule(
    'src/core/a.ts',
    'export function a() {}\nexport function b() { a() }\nexport const c = 1 // c',
  )
  const other = parseModule('src/core/b.ts', "import { b } from './a.ts'\nb()")
  const test = parseModule('test/core/a.test.ts', "import { a, b, c } from '../../src/core/a.ts'\na(); b(); c")

  it('are found, with whether anything but a test runs them', () => {
    expect(findTestOnlyExports([own, other], [test])).toEqual([
      { name: 'src/core/a.ts a', isUsed: true },
      { name: 'src/core/a.ts c', isUsed: false },
    ])
  })

  const found = findTestOnlyExports(readModules('src', 'cli', 'tui', 'scripts'), readModules('test'))

  it('are all run by their own file: what only tests run is removed', () => {
    expect(found.filter(({ isUsed }) => !isUsed)).toEqual([])
  })

  it('are few', () => {
    const parts = found
      .filter(({ isUsed }) => isUsed)
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('scripts/'))
    expect(parts.length, parts.join('\n')).toBeLessThanOrEqual(mostParts)
  })
})
