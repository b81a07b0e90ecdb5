import { expect, it } from 'vitest'
import { Isolation } from '../../../src/daemon/cluster/isolation.ts'

const limitMs = 600_000

it('refuses requests where both engines are away for longer than the limit, and serves when one is back', () => {
  const isolation = new Isolation(limitMs, true)
  isolation.note('postgres', 'no route to host', 0)
  expect(isolation.find(10 * limitMs)).toBeNull()
  isolation.note('valkey', 'it does not answer', 1000)
  // What is said again begins nothing anew.
  isolation.note('postgres', 'connection refused', 2000)
  expect(isolation.find(1000 + limitMs - 1)).toBeNull()
  expect(isolation.find(1000 + limitMs)).toBe(
    'requests are refused: PostgreSQL and Valkey not reached for longer than cluster.isolation_limit',
  )
  isolation.note('valkey', null, 5000 + limitMs)
  expect(isolation.find(10 * limitMs)).toBeNull()
})

it('goes by PostgreSQL alone where there is no Valkey, and serves for ever without a limit', () => {
  const alone = new Isolation(limitMs, false)
  alone.note('valkey', 'it does not answer', 0)
  alone.note('postgres', 'no route to host', 0)
  expect(alone.find(limitMs)).toContain('PostgreSQL not reached')
  const patient = new Isolation(null, false)
  patient.note('postgres', 'no route to host', 0)
  expect(patient.find(100 * limitMs)).toBeNull()
})
