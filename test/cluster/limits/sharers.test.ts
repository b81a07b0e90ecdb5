import { expect, it } from 'vitest'
import { findSharers } from '../../../src/cluster/limits/sharers.ts'

const members = [{ id: 'nod_a' }, { id: 'nod_b' }]

it.each([
  ['all members', members, true, ['nod_a', 'nod_b']],
  ['the others, of a node that was removed', [{ id: 'nod_b' }], false, ['nod_b']],
  ['nobody, of a node that another gateway runs as', members, false, []],
])('limits are counted with %s', (_, known, isMember, sharers) => {
  expect(findSharers(known, 'nod_a', isMember)).toEqual(sharers)
})
