import { describe, expect, it } from 'vitest'
import { parseModule, readModules } from './checks/modules.ts'
import { checkAccessors, checkOldFunctions } from './checks/old-functions.ts'

const rooms = ['gateway', 'lanes', 'providers', 'routing', 'policy', 'translate', 'core'].map((room) => `src/${room}`)

describe('functions of the data plane', () => {
  const planted = (text: string) => checkOldFunctions([parseModule('src/gateway/a.ts', text)])

  it('are seen where they are written to a property', () => {
    expect(planted('exchange.onGone = () => call.abort()')).toHaveLength(1)
    expect(planted('class A { b() { this.#find = function () {} } }')).toHaveLength(1)
    expect(planted('exchange.onGone ??= () => call.abort()')).toHaveLength(1)
    expect(planted('exchange.whenGone(() => call.abort())')).toEqual([])
    expect(planted('exchange.onGone = cancel')).toEqual([])
  })

  it('are written to none', () => {
    expect(checkOldFunctions(readModules(...rooms))).toEqual([])
  })
})

describe('objects of the data plane', () => {
  it('that have accessors are of a class', () => {
    expect(checkAccessors([parseModule('src/gateway/a.ts', 'f({ get now() { return call } })')])).toHaveLength(1)
    expect(checkAccessors([parseModule('src/gateway/a.ts', 'class A { get now() { return 1 } }')])).toEqual([])
    expect(checkAccessors(readModules(...rooms))).toEqual([])
  })
})

describe('translation', () => {
  it('is loaded with the first call that needs it, and by no other', () => {
    const modules = new Map(readModules('src').map((module) => [module.path, module]))
    const loaded = new Set<string>()
    const load = (path: string) => {
      const module = modules.get(path)
      if (module === undefined || loaded.has(path)) return
      loaded.add(path)
      for (const { file, specifier, typeOnly } of module.imports)
        if (file !== null && !typeOnly && !module.text.includes(`import('${specifier}')`)) load(file)
    }
    load('src/gateway/thread/thread.ts')
    expect(loaded).toContain('src/gateway/upstream/translate-for.ts')
    expect([...loaded].filter((path) => /^src\/(?:translate|gateway\/translation)\//.test(path))).toEqual([])
  })
})
