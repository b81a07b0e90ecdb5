import { expect, it } from 'vitest'
import { LossList } from '../../../src/gateway/translation/loss-list.ts'

it('names what is lost once, in the order in which it was found', () => {
  const list = new LossList(['seed', 'messages[3].name', 'seed'])
  list.add('citation')
  expect(list.names).toEqual(['seed', 'messages[3].name', 'citation'])
  expect(list.header()).toBe('seed, messages[3].name, citation')
})

it('has no header where nothing is lost', () => {
  expect(new LossList([]).header()).toBeNull()
})

it('names twenty in the header and counts the rest', () => {
  const names = Array.from({ length: 25 }, (_, index) => `f${index}`)
  const header = new LossList(names).header() ?? ''
  expect(header.split(', ')).toHaveLength(21)
  expect(header).toMatch(/f19, \+5$/)
})

it('keeps what a client wrote from ending the header, or being two names of it', () => {
  expect(new LossList(['a\r\nx-evil: 1', 'b,c', 'ü']).header()).toBe('a??x-evil:?1, b?c, ?')
})

it('bounds what a record holds', () => {
  const list = new LossList(Array.from({ length: 1500 }, (_, index) => `${'x'.repeat(300)}${index}`))
  expect(list.names).toHaveLength(1)
  const many = new LossList(Array.from({ length: 1500 }, (_, index) => `f${index}`))
  expect(many.names).toHaveLength(1001)
  expect(many.names.at(-1)).toBe('… and 500 more')
})
