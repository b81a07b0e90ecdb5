import { expect, it } from 'vitest'
import { loadOnce } from '../../../src/core/threads/load-once.ts'

it('loads with the first use, and gives later ones what is there without a wait', async () => {
  const made = { name: 'part' }
  let loads = 0
  const part = loadOnce(async () => {
    loads++
    return made
  })
  expect(loads).toBe(0)
  expect(await part()).toBe(made)
  expect(part()).toBe(made)
  expect(loads).toBe(1)
})

it('tries again what could not be loaded', async () => {
  const outcomes = [Promise.reject(new Error('not now')), Promise.resolve({ name: 'part' })]
  const part = loadOnce(() => outcomes.shift()!)
  await expect(part()).rejects.toThrow('not now')
  expect(await part()).toEqual({ name: 'part' })
})
