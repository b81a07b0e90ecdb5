import { expect, it, vi } from 'vitest'
import { readLastHour } from '../../src/admin/handlers/providers/last-hour.ts'
import type { ProviderAttempts } from '../../src/store/api.ts'
import { startTestGateway } from './gateway.ts'

it('is read once for all who ask meanwhile, by what they may see, and again after a failure', async () => {
  const { parts } = await startTestGateway()
  const { store, keyring } = parts
  const answers: PromiseWithResolvers<ProviderAttempts[]>[] = []
  const attempts = vi.spyOn(store.records, 'attempts').mockImplementation(() => {
    const answer = Promise.withResolvers<ProviderAttempts[]>()
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
  expect(attempts).toHaveBeenCalledTimes(2)
  answers[0]?.reject(new Error('the store is degraded'))
  answers[1]?.resolve([])
  for (const one of together) await expect(one).rejects.toThrow('degraded')
  expect(await own).toEqual(new Map())
  const again = read()
  expect(attempts).toHaveBeenCalledTimes(3)
  answers[2]?.resolve([])
  expect(await again).toEqual(new Map())
})
