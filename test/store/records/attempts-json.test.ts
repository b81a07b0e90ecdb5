import { expect, it } from 'vitest'
import { readAttempts } from '../../../src/store/records/attempts-json.ts'
import { fellBack, sampleAttempt, sampleRecord } from '../../support/sample-record.ts'

const written = (attempts: ReturnType<typeof fellBack>) => JSON.stringify(sampleRecord({ attempts }))

it('one attempt that was answered needs no figures of its own', () => {
  expect(readAttempts(written([sampleAttempt('a', 'answered')]))).toBeNull()
})

it('all others are read, whatever a model is called', () => {
  const odd = { ...sampleAttempt('a', 'aborted'), upstream_model: '"outcome":"answered"],"timeline":' }
  expect(readAttempts(written([odd]))).toMatchObject([{ provider: 'a', outcome: 'aborted' }])
  expect(readAttempts(written(fellBack('dead', 'well')))).toMatchObject([
    { provider: 'dead', model: 'm', outcome: 'fell_back', duration: 10 },
    { provider: 'well', model: 'm', outcome: 'answered', duration: 10 },
  ])
  expect(readAttempts(written([]))).toEqual([])
})

it('a record in another order of fields is read all the same', () => {
  const { attempts, ...rest } = sampleRecord({ attempts: fellBack('dead', 'well') })
  expect(readAttempts(JSON.stringify({ ...rest, attempts }))).toHaveLength(2)
})
