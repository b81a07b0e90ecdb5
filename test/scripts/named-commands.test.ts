import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import packageDescription from '../../package.json' with { type: 'json' }
import { isSpecification, readPages } from '../rules/checks/prose.ts'

it('every npm command that a page, a script or .ci/run names exists', () => {
  const ci = { path: '.ci/run', text: readFileSync(join(import.meta.dirname, '../../.ci/run'), 'utf8') }
  const pages = [...readPages().filter((page) => !isSpecification(page)), ci]
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\bnpm (?:run ([\w:-]+)|(start|test)\b)/g)].map(([, script, own]) => ({
      path,
      script: script ?? own,
    })),
  )
  expect(named.map(({ script }) => script)).toContain('test:unit')
  expect(named.filter(({ script = '' }) => !Object.hasOwn(packageDescription.scripts, script))).toEqual([])
})

it('what the inner loop runs packages nothing', () => {
  expect(packageDescription.scripts['test:unit']).toContain('vitest run --project unit')
  const config = readFileSync(join(import.meta.dirname, '../../vitest.config.ts'), 'utf8')
  const unit = config.slice(config.indexOf("name: 'unit'"), config.indexOf("name: 'integration'"))
  expect(unit).not.toContain('package-once')
  // Nothing is packaged by another name: threads are bundled, in less than a second.
  expect([...unit.matchAll(/test\/support\/[\w-]+\.ts/g)].map(([path]) => path)).toEqual([
    'test/support/bundle-threads.ts',
  ])
})
