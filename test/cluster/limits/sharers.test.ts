import { expect, it } from 'vitest'
import { findSharers } from '../../../src/cluster/limits/sharers.ts'

const members = [{ id: 'nod_a' }, { id: 'nod_b' }]

it.each([
  ['all members', members, true, {}, ['nod_a', 'nod_b']],
  ['those that say so', members, true, { nod_b: { sharesLimits: true } }, ['nod_a', 'nod_b']],
  ['none that counts for itself', members, true, { nod_b: { sharesLimits: false } }, ['nod_a']],
  ['this node, whatever its run before said', members, true, { nod_a: { sharesLimits: false } }, ['nod_a', 'nod_b']],
  ['the others, of a node that was removed', [{ id: 'nod_b' }], false, {}, ['nod_b']],
  ['nobody, of a node that another gateway runs as', members, false, {}, []],
])('limits are counted with %s', (_, known, isMember, conditions, sharers) => {
  expect(findSharers(known, 'nod_a', { isMember, conditions })).toEqual(sharers)
})
