import { expect, it } from 'vitest'
import { readNodes } from '../../../src/core/json/json-nodes.ts'
import { findTexts, TextFinder } from '../../../src/gateway/content/content-texts.ts'

it('finds texts in steps, in their order, however many values a body has', () => {
  const tool = { type: 'function', function: { name: 'f', description: 'what', parameters: { enum: ['x', 12345] } } }
  const bytes = Buffer.from(
    JSON.stringify({ messages: [{ role: 'user', content: 'first' }], tools: Array(2000).fill(tool) }),
  )
  const root = readNodes(bytes)
  if (root === null) throw new Error('no JSON')
  const finder = new TextFinder(bytes, root, 'prompt', 4)
  let steps = 1
  while (finder.lookOn()) steps++
  expect(steps).toBeGreaterThan(20)
  const { texts } = finder.found
  expect(texts.slice(0, 4).map(({ path }) => path)).toEqual([
    'messages[0].role',
    'messages[0].content',
    'tools[0].type',
    'tools[0].function.name',
  ])
  expect(texts.map(({ node }) => node.start)).toEqual(texts.map(({ node }) => node.start).toSorted((a, b) => a - b))
  expect(findTexts(bytes, root, 'prompt')).toEqual(finder.found)
})
