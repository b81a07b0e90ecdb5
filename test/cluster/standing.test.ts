import { expect, it } from 'vitest'
import { findStanding } from '../../src/cluster/standing.ts'
import { notYet, otherCluster, removed } from '../../src/cluster/troubles.ts'

const heard = { silentMs: 1200 }

it.each([
  ['heard of lately', heard, 'present'],
  ['silent for longer than between some beats', { silentMs: 8001 }, 'absent'],
  ['never heard of', { silentMs: null }, 'absent'],
])('a node that PostgreSQL has %s is so', (_, peer, standing) => {
  expect(findStanding(peer, false, null)).toBe(standing)
})

it.each([[removed], [otherCluster], [notYet], ['PostgreSQL cannot be reached: no route']])(
  'of the others nothing is known where %s',
  (trouble) => {
    expect(findStanding(heard, false, trouble)).toBe('unknown')
  },
)

it('a node itself is there whatever PostgreSQL heard of it, or knows that it was removed', () => {
  expect([null, 'no route', removed].map((trouble) => findStanding({ silentMs: null }, true, trouble))).toEqual([
    'present',
    'present',
    'removed',
  ])
})
