import { expect, it } from 'vitest'
import { nameFile } from '../../cli/file-name.ts'

it('ends a file as its form is asked for', () => {
  const show = { name: 'spgw-requests', ending: 'jsonl' }
  expect(nameFile(show, {})).toEqual(show)
  expect(nameFile(show, { format: 'csv' })).toEqual({ name: 'spgw-requests', ending: 'csv' })
})
