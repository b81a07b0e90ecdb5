import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readOverviewSearch } from '../../../src/console/app/areas/overview/overview-search.ts'
import { filterNames, readRequestsSearch } from '../../../src/console/app/areas/requests/requests-search.ts'
import { describeTimeRange } from '../../../src/console/app/areas/time-range.ts'
import { absentProject, inScope, type Scope } from '../../../src/console/app/session/scope.ts'
import { parseSearch, safeNext, writeSearch } from '../../../src/console/app/shell/address.ts'

describe('the query of an address', () => {
  it('is what was written, whatever the values are', () => {
    const values = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.string({ minLength: 1 }))
    fc.assert(
      fc.property(values, (search) => {
        const wellFormed = Object.values(search).every((value) => value.isWellFormed())
        fc.pre(wellFormed)
        expect(parseSearch(writeSearch(search))).toEqual(search)
      }),
    )
  })

  it('leaves out what is empty', () => {
    expect(writeSearch({ project: 'a b', environment: undefined, since: '', until: null, ended: true })).toBe(
      '?project=a+b&ended=true',
    )
    expect(writeSearch({ since: undefined })).toBe('')
  })
})

describe('where the browser goes after sign-in', () => {
  const origin = 'https://console.example.com'

  it('is the page that was asked for, with its query', () => {
    expect(safeNext('/requests?status=5xx&model=a%20b')).toBe('/requests?status=5xx&model=a%20b')
    expect(safeNext(undefined)).toBe('/')
  })

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    // Browsers drop tabs and line breaks from addresses.
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    'javascript:alert(1)',
    '/sign-in?next=/',
    '',
  ])('is never %j', (next) => {
    expect(safeNext(next)).toBe('/')
  })

  it('is always a path of this console', () => {
    const text = fc.array(
      fc.constantFrom('/', '\\', '\t', '\r', '\n', ':', '@', '.', ' ', 'a', 'evil.example', '?', '#'),
    )
    fc.assert(
      fc.property(text, (parts) => {
        const next = safeNext(parts.join(''))
        expect(next.startsWith('/')).toBe(true)
        expect(new URL(next, origin).origin).toBe(origin)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('the filters of an address', () => {
  it('are those of the list, as text; anything else is dropped', () => {
    expect(
      readRequestsSearch({ status: '5xx', key: '', model: ['a'], since: 7, page: '2', tag: 'team=search' }),
    ).toEqual({
      status: '5xx',
      tag: 'team=search',
    })
    const all = Object.fromEntries(filterNames.map((name) => [name, name]))
    expect(readRequestsSearch(all)).toEqual(all)
  })

  it('group the overview by what it can be grouped by', () => {
    expect(readOverviewSearch({ by: 'model', since: '7d', until: '' })).toEqual({ by: 'model', since: '7d' })
    expect(readOverviewSearch({ by: 'constructor' })).toEqual({})
    // What a group's row opens.
    expect(readOverviewSearch({ by: 'tag' })).toEqual({ by: 'tag' })
    expect(filterNames).toContain('tag')
  })

  it('say a time range in words, also one that nobody can read', () => {
    expect(describeTimeRange('15m', undefined)).toBe('Last 15 min')
    expect(describeTimeRange('2026-01-02T03:04:00', undefined)).toBe('Since 2 Jan, 03:04')
    expect(describeTimeRange('1h', '2026-01-02T03:04:00')).toMatch(/^1 h ago – 2 Jan, 03:04$/)
    expect(describeTimeRange('yesterday', undefined)).toBe('Since yesterday')
  })
})

describe('the scope of an address', () => {
  const scope = (project?: string, environment?: string): Scope => ({
    ...(project === undefined ? {} : { project }),
    ...(environment === undefined ? {} : { environment }),
    all: project === undefined,
    listInput: { all: true },
    filter: {},
    defaultScope: { project: 'default', environment: 'production' },
  })

  it.each([
    [scope(), { project: 'a', environment: 'production' }, true],
    [scope('a'), { project: 'a', environment: 'staging' }, true],
    [scope('a'), { project: 'b', environment: 'staging' }, false],
    [scope('a', 'production'), { project: 'a', environment: 'staging' }, false],
    [scope('a', 'production'), { project: 'a', environment: 'production' }, true],
    // A route of all environments is in each of them.
    [scope('a', 'production'), { project: 'a', environment: null }, true],
    [scope('b', 'production'), { project: 'a', environment: null }, false],
  ])('%j with %j: %j', (of, row, expected) => {
    expect(inScope(of, row)).toBe(expected)
  })

  it('may name a project that is not there', () => {
    const projects = [{ name: 'a' }, { name: 'b' }]
    expect(absentProject({ project: 'nobody' }, projects)).toBe('nobody')
    expect(absentProject({ project: 'a', environment: 'test' }, projects)).toBeNull()
    expect(absentProject({}, projects)).toBeNull()
    expect(absentProject({ project: 'nobody' }, undefined)).toBeNull()
  })
})
