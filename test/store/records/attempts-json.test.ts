import { expect, it } from 'vitest'
import { readAttempts } from '../../../src/store/records/attempts-json.ts'
import { fellBack, sampleAttempt, sampleRecord } from '../../support/sample-record.ts'

const written = (attempts: ReturnType<typeof fellBack>) => JSON.stringify(sampleRecord({ attempts }))

it('one attempt that was answered needs no figures of its own', () => {
  expect(readAttempts(written([sampleAttempt('a', 'answered')]), null)).toBeNull()
})

it('an answer that the provider broke off has figures, one that its client left has none', () => {
  const text = written([sampleAttempt('a', 'answered')])
  const cut = { code: 'provider_bad_response', origin: 'provider', message: 'cut' } as const
  const left = { code: 'client_closed', origin: 'client', message: 'left' } as const
  expect(readAttempts(text, cut)).toMatchObject([{ provider: 'a', outcome: 'failed' }])
  expect(readAttempts(text, left)).toBeNull()
})

it('all others are read, whatever a model is called', () => {
  const odd = { ...sampleAttempt('a', 'aborted'), upstream_model: '"outcome":"answered"],"timeline":' }
  expect(readAttempts(written([odd]), null)).toMatchObject([{ provider: 'a', outcome: 'aborted' }])
  expect(readAttempts(written(fellBack('dead', 'well')), null)).toMatchObject([
    { provider: 'dead', model: 'm', outcome: 'fell_back', duration: 10 },
    { provider: 'well', model: 'm', outcome: 'answered', duration: 10 },
  ])
  expect(readAttempts(written([]), null)).toEqual([])
})

it('a record in another order of fields is read all the same', () => {
  const { attempts, ...rest } = sampleRecord({ attempts: fellBack('dead', 'well') })
  expect(readAttempts(JSON.stringify({ ...rest, attempts }), null)).toHaveLength(2)
})
