import { expect, it } from 'vitest'
import { findResources } from '../../../src/console/app/areas/find-resources.ts'
import type { Scope } from '../../../src/console/app/session/scope.ts'

const row = (id: string, name: string, project: string, environment: string | null) => ({
  ...{ id, name, project, environment },
})
const rows = [
  row('key_1', 'ci', 'a', 'production'),
  row('key_2', 'ci', 'a', 'test'),
  row('key_3', 'ci', 'b', 'production'),
  row('key_4', 'key_1', 'b', null),
]
const find = (reference: string, scope: { project?: string; environment?: string }) =>
  findResources(rows, reference, ({ name }) => name, scope as Scope).map(({ id }) => id)

it('an address means the resource of that id, else those of that name in its scope, else all of that name', () => {
  expect(find('key_1', { project: 'b' })).toEqual(['key_1'])
  expect(find('ci', { project: 'a', environment: 'test' })).toEqual(['key_2'])
  expect(find('ci', { project: 'a' })).toEqual(['key_1', 'key_2'])
  expect(find('ci', { project: 'c' })).toEqual(['key_1', 'key_2', 'key_3'])
  expect(find('nothing', {})).toEqual([])
})
