import { describe, expect, it } from 'vitest'
import { checkFiles, checkFunctions, checkTypes } from './checks/form.ts'
import { parseModule, readModules } from './checks/modules.ts'

const program = readModules('src', 'cli', 'tui', 'scripts')
const everything = [...program, ...readModules('test')]
const planted = (path: string, text: string) => [parseModule(path, text)]

describe('size and names', () => {
  it('sees a file that has grown, and a name that says nothing', () => {
    expect(checkFiles(planted('src/core/a.ts', '\n'.repeat(401).replace(/$/, 'x()')))).toHaveLength(1)
    expect(checkFiles(planted('src/core/key-utils.ts', ''))).toHaveLength(1)
    expect(checkFiles(planted('src/core/Key.ts', ''))).toHaveLength(1)
    expect(checkFiles(planted('src/core/key.ts', 'x()\n'.repeat(400)))).toEqual([])
  })

  it('sees a function that has grown', () => {
    const lines = 'x()\n'.repeat(69)
    expect(checkFunctions(planted('src/a.ts', `function f() {\n${lines}}`))).toHaveLength(1)
    expect(checkFunctions(planted('src/a.ts', `const f = () => {\n${lines}}`))).toHaveLength(1)
    expect(checkFunctions(planted('src/a.ts', `class A { f() {\n${lines}} }`))).toHaveLength(1)
    expect(checkFunctions(planted('src/a.ts', `function f() {\n${'x()\n'.repeat(68)}}`))).toEqual([])
  })

  it('holds everywhere', () => {
    expect(checkFiles(everything)).toEqual([])
    expect(checkFunctions(program)).toEqual([])
  })
})

describe('types', () => {
  it('sees `any` and a silenced compiler', () => {
    expect(checkTypes(planted('src/a.ts', 'const a: Record<string, any> = {}'))).toHaveLength(1)
    expect(checkTypes(planted('src/a.ts', 'const a = b as any'))).toHaveLength(1)
    expect(checkTypes(planted('src/a.ts', '// @ts-ignore\nx()'))).toHaveLength(1)
    expect(checkTypes(planted('src/a.ts', "const any = 'any' // any"))).toEqual([])
  })

  it('holds everywhere', () => {
    expect(checkTypes(everything)).toEqual([])
  })
})
