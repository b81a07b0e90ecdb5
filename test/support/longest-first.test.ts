import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { longest, longestFirst } from './longest-first.ts'

const root = join(import.meta.dirname, '../..')
const spec = (project: string, file: string) => ({ moduleId: join(root, file), project: { name: project } })

it('what takes long is begun first in its project, and all else keeps its order', () => {
  const [e2e, large, small] = ['e2e/backup', 'integration/batch-usage', 'integration/limits'].map(
    (name) => `test/${name}.test.ts`,
  )
  const files = [spec('e2e', e2e ?? ''), ...[large, small, longest[0]].map((name) => spec('integration', name ?? ''))]
  expect(longestFirst(files, root).map(({ moduleId }) => moduleId)).toEqual(
    [e2e, longest[0], large, small].map((name) => join(root, name ?? '')),
  )
})

it('names files that there are', () => {
  expect(longest.filter((file) => !existsSync(join(root, file)))).toEqual([])
})
