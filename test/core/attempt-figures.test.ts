import { describe, expect, it } from 'vitest'
import { type AttemptCounts, countAttempt, figuresOf } from '../../src/core/attempt-figures.ts'
import type { AttemptRecord, RequestRecord } from '../../src/core/record.ts'
import { sampleAttempt } from '../support/sample-record.ts'

function counted(...attempts: AttemptRecord[]): AttemptCounts {
  return countedUntil(null, attempts)
}

function countedUntil(error: RequestRecord['error'], attempts: AttemptRecord[]): AttemptCounts {
  const counts = { tried: 0, failed: 0, fell_back: 0 }
  for (const { outcome } of figuresOf(attempts, error)) countAttempt(counts, outcome)
  return counts
}

describe('the figures of attempts', () => {
  it('count a retry at the same target as failed, and one that moved on as fallen back, too', () => {
    const attempts = [
      sampleAttempt('a', 'retry', 503),
      sampleAttempt('a', 'fallback', 503),
      sampleAttempt('b', 'answered'),
    ]
    expect(counted(...attempts)).toEqual({ tried: 3, failed: 2, fell_back: 1 })
  })

  it('count an error that passed as failed only where it was not the caller’s own', () => {
    for (const [status, failed] of [
      [400, 0],
      [401, 1],
      [404, 0],
      [429, 1],
      [500, 1],
    ] as const)
      expect(counted(sampleAttempt('a', 'passed', status))).toEqual({ tried: 1, failed, fell_back: 0 })
  })

  it('count one that was given up for a faster one as tried, and not as failed', () => {
    const attempts = [sampleAttempt('a', 'cancelled'), sampleAttempt('b', 'answered', 200)]
    expect(counted(...attempts)).toEqual({ tried: 2, failed: 0, fell_back: 0 })
  })

  it('count an answer that the provider broke off as failed, and the attempt before it by its own end', () => {
    const cut = { code: 'provider_unreachable', origin: 'network', message: 'cut' } as const
    const left = { code: 'client_closed', origin: 'client', message: 'left' } as const
    const attempts = [sampleAttempt('a', 'aborted'), sampleAttempt('b', 'answered', 200)]
    expect(countedUntil(cut, attempts)).toEqual({ tried: 2, failed: 1, fell_back: 0 })
    expect(countedUntil(left, attempts)).toEqual({ tried: 2, failed: 0, fell_back: 0 })
  })

  it('count what its client left as tried', () => {
    expect(counted(sampleAttempt('a', 'aborted'))).toEqual({ tried: 1, failed: 0, fell_back: 0 })
  })
})
