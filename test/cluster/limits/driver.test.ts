import { setTimeout as wait } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { LimitDriver } from '../../../src/cluster/limits/driver.ts'
import { Valkey } from '../../../src/cluster/valkey.ts'
import { BucketClock } from '../../../src/policy/limits/bucket-clock.ts'
import { createLimitMemory, LimitRows } from '../../../src/policy/limits/limit-memory.ts'
import { MockValkey } from '../../support/mock-valkey.ts'

const member = { cluster: 'cluster', id: 'one' }

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

it.each([
  ['nothing', null],
  ['a word', 'OK'],
  ['no rows', [0, 1, 'tag', Date.now(), 1, 'none']],
  ['words for numbers', [0, 1, 'tag', 'noon', 1, [['many', 0, 0, 0]]]],
  ['half of a row', [0, 1, 'tag', Date.now(), 1, [[5]]]],
])(
  'takes a server that answers its script with %s for one that is away, until it answers as it has to',
  async (_, answer) => {
    const mock = await MockValkey.start()
    onTestFinished(() => mock.close())
    mock.answer = () => answer
    const heard: (string | null)[] = []
    const valkey = await Valkey.open(mock.address, (reason) => heard.push(reason))
    onTestFinished(() => valkey.close())
    const memory = createLimitMemory(1, { budgets: false, windows: BucketClock.memory() })
    let granting = 0
    const driver = new LimitDriver({
      ...{ memory, member, newLife: () => 'life', quiet: true, without: 'share', valkey, now: () => performance.now() },
      onGranting: () => granting++,
    })
    driver.setMembers(['one', 'two'])
    driver.start()
    onTestFinished(() => driver.stop())
    await expect.poll(() => heard.at(-1)).toBe('it answered the script of limits with something else')
    expect(granting).toBe(0)
    mock.answer = () => [1, 1, 'tag', Date.now(), 1, []]
    await expect.poll(() => heard.at(-1)).toBeNull()
  },
)
