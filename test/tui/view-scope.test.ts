import { describe, expect, it } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import {
  coverageOf,
  describeScope,
  everything,
  isInScope,
  parseScope,
  scopeInput,
  type ViewScope,
} from '../../tui/scope.ts'

function operation(name: string) {
  const found = catalog.find((one) => one.name === name)
  if (found === undefined) throw new Error(`There is no operation ${name}.`)
  return found
}

const web = { project: 'web', environment: null }
const test = { project: 'web', environment: 'test' }

describe('the scope that is looked at', () => {
  it.each([
    ['', everything],
    ['all', everything],
    ['*', everything],
    ['web', web],
    ['web/', web],
    ['web/test', test],
    ['/test', null],
    ['web/test/more', null],
  ])('is read from %j', (text, scope) => {
    expect(parseScope(text)).toEqual(scope)
  })

  it('is said as it is written', () => {
    expect([everything, web, test].map(describeScope)).toEqual(['all projects', 'web', 'web/test'])
  })

  it('keeps a reading to it, as far as the operation can say it', () => {
    const of = (name: string) => [everything, web, test].map((scope) => scopeInput(operation(name), scope))
    expect(of('keys.list')).toEqual([{ all: true }, { all: true }, { project: 'web', environment: 'test' }])
    expect(of('keys.create')).toEqual([{}, { project: 'web' }, { project: 'web', environment: 'test' }])
    expect(of('providers.list')).toEqual([{}, {}, {}])
  })

  it('has what stands in it, and what stands in none or in all of its environments', () => {
    const rows = [
      { project: 'web', environment: 'test' },
      { project: 'web', environment: 'live' },
      { project: 'web', environment: null },
      { project: 'shop', environment: 'test' },
      { name: 'a policy' },
      { projects: ['shop', 'web'] },
      { projects: ['shop'] },
    ]
    const seen = (scope: typeof everything) => rows.flatMap((row, index) => (isInScope(row, scope) ? [index] : []))
    expect(seen(everything)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(seen(web)).toEqual([0, 1, 2, 4, 5])
    expect(seen(test)).toEqual([0, 2, 4, 5])
  })

  it('is said over a list, but for what the list is about', () => {
    const said = (name: string, given: object, scope: ViewScope = test) => coverageOf(operation(name), given, scope)
    expect(said('keys.list', { project: 'web' })).toBe('web')
    expect(said('keys.list', { project: 'web', environment: 'test' })).toBe('web/test')
    expect(said('keys.list', { all: true }, web)).toBe('web')
    expect(said('providers.list', {})).toBe('usable in web')
    expect(said('providers.list', {}, everything)).toBe('all projects')
    expect(said('policies.list', {})).toBe('all projects')
    expect(said('providers.history', { name: 'openai' })).toBeNull()
    expect(said('providers.history', { name: '' })).toBe('all projects')
  })
})
