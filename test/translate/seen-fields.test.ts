import { describe, expect, it } from 'vitest'
import { findSeen } from '../../src/translate/seen-fields.ts'

const table = {
  plain: { otherwise: 'mapped' },
  lost: { to: { chat: 'kept' }, otherwise: 'dropped' },
  schema: { otherwise: 'mapped' },
  one: { otherwise: 'refused', harmless: [1, { a: [] }] },
  list: { otherwise: 'mapped' },
  'list.name': { otherwise: 'dropped' },
  'list.inner': { otherwise: 'mapped' },
  'list.inner.name': { otherwise: 'approximated' },
} as const

describe('members of a request', () => {
  const paths = (body: Record<string, unknown>) => findSeen(body, table).map(({ field, path }) => `${field} ${path}`)

  it('are found where some target loses them, at their place', () => {
    expect(paths({ plain: 1, lost: 2, list: [{}, { name: 'x', inner: [[{ name: 'y' }]] }, 'text'] })).toEqual([
      'lost lost',
      'list.name list[1].name',
      'list.inner.name list[1].inner[0][0].name',
    ])
  })

  it('are found where no row names them, and only the outermost', () => {
    expect(paths({ brand: { new: 1 }, list: [{ mood: 1 }], schema: { mood: 1 }, toString: 1 })).toEqual([
      'unknown brand',
      'unknown list[0].mood',
      'unknown toString',
    ])
  })

  it('are no loss where they ask for nothing', () => {
    expect(paths({ lost: null, brand: null, one: 1 })).toEqual([])
    expect(paths({ one: { a: [] } })).toEqual([])
    expect(paths({ one: 2 })).toEqual(['one one'])
  })

  it('are left out within what is reported as a whole', () => {
    expect(findSeen({ list: [{ type: 'hosted', name: 'x' }] }, table, ({ type }) => type === 'hosted')).toEqual([])
  })
})
