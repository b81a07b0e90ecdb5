import { expect, it, vi } from 'vitest'
import { readLastHour } from '../../src/admin/handlers/providers/last-hour.ts'
import type { StatsRow } from '../../src/store/api.ts'
import { startTestGateway } from './gateway.ts'

it('is read once for all who ask meanwhile, by what they may see, and anew after a failure', async () => {
  const { parts } = await startTestGateway()
  const { store, keyring } = parts
  const answers: PromiseWithResolvers<StatsRow[]>[] = []
  const stats = vi.spyOn(store.records, 'stats').mockImplementation(() => {
    const answer = Promise.withResolvers<StatsRow[]>()
    answers.push(answer)
    return answer.promise
  })
  const scopeOf = (seen: string[] | null) => {
    const set = seen === null ? null : new Set(seen)
    return { seen: set, able: set, refuse: () => new Error('refused') }
  }
  const read = (seen: string[] | null = null) => readLastHour({ store, keyring, scope: scopeOf(seen) })

  const together = [read(), read()]
  const own = read(['prj_1'])
  expect(stats).toHaveBeenCalledTimes(2)
  answers[0]?.reject(new Error('the store is sick'))
  answers[1]?.resolve([])
  for (const one of together) await expect(one).rejects.toThrow('sick')
  expect(await own).toEqual(new Map())
  const again = read()
  expect(stats).toHaveBeenCalledTimes(3)
  answers[2]?.resolve([])
  expect(await again).toEqual(new Map())
})
