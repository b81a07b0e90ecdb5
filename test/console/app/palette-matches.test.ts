import { describe, expect, it } from 'vitest'
import { findMatches, type SearchIndex } from '../../../src/console/app/shell/palette-matches.ts'

const known: SearchIndex = {
  keys: [
    { id: 'key_1', name: 'web', last_four: 'a1b2', project: 'default', environment: 'production', state: 'active' },
  ],
  routes: [{ id: 'rte_1', model: 'gpt-4o*', project: 'default', environment: null }],
  providers: [{ id: 'prv_1', name: 'openai', kind: 'openai' }],
  policies: [{ id: 'pol_1', name: 'small' }],
  fixed: [
    { key: 'a', title: 'Create key', kind: 'Action', to: '/keys', params: {}, search: { create: 'new' } },
    { key: 'b', title: 'Keys', kind: 'Page', to: '/keys', params: {}, search: {} },
    { key: 'c', title: 'keys list', kind: 'Operation', to: '/settings/operations/$operation', params: {}, search: {} },
  ],
  may: () => true,
}
const found = (text: string) => findMatches(text, known).map(({ to, title }) => `${to} ${title}`)

describe('the search box', () => {
  it('finds pages by what they are for, after those that are called so', () => {
    const section = { kind: 'Settings', to: '/settings/$section', search: {} } as const
    const policies = {
      ...section,
      key: 'p',
      title: 'Policies',
      params: { section: 'policies' },
      words: 'Budgets limits',
    }
    const limits = { ...section, key: 'l', title: 'Limits of hosts', params: { section: 'limits' } }
    const titles = (text: string) =>
      findMatches(text, { ...known, fixed: [policies, limits] }).map(({ title }) => title)
    expect(titles('budget')).toEqual(['Policies', 'budget'])
    expect(titles('limits')).toEqual(['Limits of hosts', 'Policies', 'limits'])
  })

  it('opens a request by its id, and asks nothing else', () => {
    expect(found(' req_01abc ')).toEqual(['/requests/$id req_01abc'])
    const id = 'req_01m8phjh7fjnqp0erk363s6d3r'
    for (const text of [id.toUpperCase(), `x-sp-request-id: ${id}`, `"${id}",`])
      expect(found(text)).toEqual([`/requests/$id ${id}`])
  })

  it('finds a key by its name, by its last four, and by the end of the whole key', () => {
    for (const text of ['web', 'a1b2', '…a1b2', 'sp_live_somethinga1b2'])
      expect(found(text)[0]).toBe('/keys/$key web …a1b2')
    expect(found('sp_live_somethinga1b2')).toHaveLength(1)
    expect(found('sp_live_nobodys')).toEqual([])
    expect(found('1b2')).toEqual(['/requests 1b2'])
  })

  it('finds routes and providers, and offers the requests for a model', () => {
    expect(found('gpt')[0]).toBe('/routing/$route gpt-4o*')
    expect(found('gpt').at(-1)).toBe('/requests gpt')
    expect(found('openai')[0]).toBe('/providers/$name openai')
    expect(found('small')[0]).toBe('/settings/$section small')
    for (const id of ['key_1', 'rte_1', 'prv_1']) expect(found(id)).not.toHaveLength(1)
  })

  it('offers pages and actions before anything is typed', () => {
    expect(found('  ')).toEqual(['/keys Create key', '/keys Keys'])
  })

  it('finds actions by their words, on their own and on a resource, which the address opens', () => {
    expect(found('create key')[0]).toBe('/keys Create key')
    const [rotate] = findMatches('rotate web', known)
    expect(rotate).toMatchObject({ to: '/keys/$key', params: { key: 'key_1' }, search: { do: 'rotate' } })
    expect(findMatches('rotate web', { ...known, may: () => false })[0]?.title).toBe('rotate web')
    expect(found('keys')).toEqual(['/keys Keys', '/settings/operations/$operation keys list', '/requests keys'])
  })
})
