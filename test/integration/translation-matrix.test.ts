import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatNames } from '../../src/core/format.ts'
import { hasPython } from '../support/matrix/clients/python.ts'
import { features } from '../support/matrix/features.ts'
import { type CellResult, writePage } from '../support/matrix/page.ts'
import { type MatrixStage, startMatrix } from '../support/matrix/stage.ts'

const page = join(import.meta.dirname, '../../docs/translation-matrix.md')

let stage: MatrixStage
const results: CellResult[] = []

beforeAll(async () => {
  stage = await startMatrix()
})
afterAll(() => stage.close())

function problemsOf(results: readonly CellResult[]): string[] {
  return results.flatMap(({ upstream, feature, whole, streamed }) =>
    [whole, streamed].flatMap((outcomes, index) =>
      outcomes.flatMap(({ problems }, at) => {
        const where = `${upstream.name}${index === 1 ? ', streamed' : ''}, ${feature.name}, ${feature.cases[at]?.name}`
        return problems.map((problem) => `${where}: ${problem}`)
      }),
    ),
  )
}

describe.each(formatNames)('a client of %s', (client) => {
  it('gets what was answered, and what it asked arrives or is named as lost, at every provider', async () => {
    const own = await stage.run(client)
    results.push(...own)
    expect(problemsOf(own)).toEqual([])
  })

  it.skipIf(!hasPython)('does so with the SDK for Python', async () => {
    expect(problemsOf(await stage.runPython(client))).toEqual([])
  })
})

/** `npm run matrix` writes it. */
it('is what the page says', async () => {
  const text = writePage(results, features, stage.upstreams)
  if (process.env.SPGW_MATRIX === 'write') await writeFile(page, text)
  expect(text).not.toContain('untested')
  expect(await readFile(page, 'utf8')).toBe(text)
})
