import { expect, it } from 'vitest'
import { UnjoinedReach } from '../../../src/daemon/cluster/unjoined-reach.ts'

it('is logged once a reason while PostgreSQL is not reached, and once when it is again', () => {
  const lines: string[] = []
  const write = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields ?? {})}`)
  const reach = new UnjoinedReach({ warn: write, info: write })
  for (const trouble of [null, 'refused', 'refused', 'wrong password', 'refused', null, null, 'refused'])
    reach.note(trouble)
  expect(lines).toEqual([
    'this gateway can neither join nor found a cluster {"reason":"refused"}',
    'this gateway can neither join nor found a cluster {"reason":"wrong password"}',
    'PostgreSQL is reached: this gateway can join a cluster {}',
    'this gateway can neither join nor found a cluster {"reason":"refused"}',
  ])
})
