import { expect, it } from 'vitest'
import { MetLabels } from '../../../src/cluster/readings/met-labels.ts'

it('masks a key that an earlier version wrote as a model', () => {
  const labels = new MetLabels()
  const row = {
    lane: 'openai',
    project: 'p',
    environment: 'e',
    key_id: null,
    key_name: null,
    provider: 'x',
    shadow: 0,
  } as const
  const number = labels.number({ ...row, model: 'sk-proj-AbCd0123EfGh4567ijKlMnOpQrSt' })
  expect(labels.known.get(number)).toMatchObject({ model: 'sk-…', provider: 'x' })
  expect(labels.known.get(labels.number({ ...row, model: null }))?.model).toBeNull()
})
