import { describe, expect, it } from 'vitest'
import { listOperations } from '../../../src/admin/contract/operations.ts'
import { fixedEntries } from '../../../src/console/app/shell/palette-entries.ts'
import { findMatches, type SearchMatch } from '../../../src/console/app/shell/palette-matches.ts'

const operations = listOperations()
const sections = [
  { word: 'alerts', title: 'Alerts', about: 'Webhooks', words: 'slack', operation: 'alerts.list' },
  { word: 'audit', title: 'Audit', about: 'Who changed what', operation: 'audit.list' },
]
const contents = { sections, operations }
const titles = (entries: readonly SearchMatch[], kind: string) =>
  entries.filter((entry) => entry.kind === kind).map(({ title }) => title)
const forOne = (...allowed: string[]) => fixedEntries((operation) => allowed.includes(operation), contents)

describe('what the palette always offers', () => {
  it('is all of it to an owner, actions and pages first, each once', () => {
    const entries = fixedEntries(() => true, contents)
    expect(titles(entries, 'Action')).toContain('Create key')
    expect(titles(entries, 'Page')).toEqual(expect.arrayContaining(['Overview', 'Playground', 'Account']))
    expect(titles(entries, 'Settings')).toEqual(['Alerts', 'Audit', 'All operations'])
    expect(titles(entries, 'Operation')).toEqual(operations.map(({ path }) => path.join(' ')))
    expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length)
    expect([...new Set(entries.map(({ kind }) => kind))]).toEqual(['Action', 'Page', 'Settings', 'Operation'])
  })

  it('leaves out what one may not do, but no page for everybody', () => {
    const nothing = forOne()
    expect(titles(nothing, 'Action')).toEqual([])
    expect(titles(nothing, 'Operation')).toEqual([])
    expect(titles(nothing, 'Settings')).toEqual(['All operations'])
    expect(titles(nothing, 'Page')).toEqual(expect.arrayContaining(['Overview', 'Keys', 'Settings', 'Account']))
    expect(titles(nothing, 'Page')).not.toContain('Playground')
  })

  it('asks each thing for an operation that there is', () => {
    const asked = new Set<string>()
    fixedEntries((operation) => asked.add(operation).size > 0, { sections, operations: [] })
    expect([...asked].filter((name) => !operations.some((operation) => operation.name === name))).toEqual([])
    for (const name of asked) expect(forOne(name).length, name).toBeGreaterThan(forOne().length)
  })

  it('opens the place that it names', () => {
    const entries = forOne('keys.create', 'audit.list')
    expect(entries.find(({ title }) => title === 'Create key')).toMatchObject({
      to: '/keys',
      search: { create: 'new' },
    })
    expect(entries.find(({ title }) => title === 'Audit')).toMatchObject({
      ...{ to: '/settings/$section', params: { section: 'audit' } },
    })
    expect(entries.find(({ title }) => title === 'audit list')).toMatchObject({
      ...{ to: '/settings/operations/$operation', params: { operation: 'audit.list' } },
    })
  })

  it.each([
    ['logs', 'Requests'],
    ['spending', 'Overview'],
    ['quota', 'Add policy'],
    ['slack', 'Alerts'],
    ['who changed', 'Audit'],
  ])('is found by what people call it: %s', (typed, title) => {
    const fixed = fixedEntries(() => true, contents)
    const found = findMatches(typed, { keys: [], routes: [], providers: [], policies: [], fixed, may: () => true })
    expect(found.map((match) => match.title)).toContain(title)
  })
})
