import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { LimitDriver } from '../../../src/cluster/limits/driver.ts'
import { BucketClock } from '../../../src/policy/limits/bucket-clock.ts'
import { createLimitMemory, LimitRows } from '../../../src/policy/limits/limit-memory.ts'

it('leaves its thread to others while a connection that goes down refuses at once what requests wait for', async () => {
  const memory = createLimitMemory(1, { budgets: false, windows: BucketClock.memory() })
  const row = new LimitRows(memory).make('limit', 15)
  if (row === null) throw new Error('there is no memory for a row')
  let calls = 0
  const valkey = {
    run: 'run-a' as string | null,
    // As iovalkey does between a refusal and the end of the connection.
    async evaluate() {
      if (++calls === 1000) valkey.run = null
      throw new Error("Stream isn't writeable and enableOfflineQueue options is false")
    },
  }
  const member = { cluster: 'cluster', id: 'one' }
  const driver = new LimitDriver({
    ...{ memory, member, newLife: () => 'life', quiet: true, without: 'share', valkey, now: () => performance.now() },
  })
  driver.setMembers(['one', 'two'])
  driver.start()
  driver.want({ row, slots: false, need: 1 })
  await wait(0)
  driver.stop()
  expect(calls).toBe(1)
})
