import { describe, expect, it } from 'vitest'
import { findMatches } from '../../../src/console/app/shell/search-matches.ts'

const known = {
  keys: [{ id: 'key_1', name: 'web', last_four: 'a1b2', project: 'default', environment: 'production' }],
  routes: [{ id: 'rte_1', model: 'gpt-4o*', project: 'default', environment: null }],
  providers: [{ id: 'prv_1', name: 'openai', kind: 'openai' }],
}
const found = (text: string) => findMatches(text, known).map(({ to, title }) => `${to} ${title}`)

describe('the search box', () => {
  it('opens a request by its id, and asks nothing else', () => {
    expect(found(' req_01abc ')).toEqual(['/requests/$id req_01abc'])
  })

  it('finds a key by its name, by its last four, and by the end of the whole key', () => {
    for (const text of ['web', 'a1b2', '…a1b2', 'sp_live_somethinga1b2'])
      expect(found(text)[0]).toBe('/keys/$key web …a1b2')
    expect(found('1b2')).toEqual(['/requests 1b2'])
  })

  it('finds routes and providers, and offers the requests for a model', () => {
    expect(found('gpt')).toEqual(['/routing/$route gpt-4o*', '/requests gpt'])
    expect(found('openai')).toEqual(['/providers/$name openai', '/requests openai'])
    expect(found('  ')).toEqual([])
  })
})
