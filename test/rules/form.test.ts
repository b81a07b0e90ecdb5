import { describe, expect, it } from 'vitest'
import { checkFiles, checkFunctions, checkTypeNames, checkTypes } from './checks/form.ts'
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
    expect(checkTypes(planted('src/a.ts', 'const a = b as unknown as string'))).toHaveLength(1)
    expect(checkTypes(planted('cli/a.ts', 'const a = (b as unknown) as string'))).toHaveLength(1)
    expect(checkTypes(planted('src/a.ts', 'const a = b as string'))).toEqual([])
    expect(checkTypes(planted('test/a.test.ts', 'const a = b as unknown as string'))).toEqual([])
  })

  it('holds everywhere', () => {
    expect(checkTypes(everything)).toEqual([])
  })
})

describe('names of types', () => {
  /** Names that several files still export. The list gets shorter, never longer. */
  const allowed: Record<string, number> = {
    AnswerReader: 2,
    Ask: 2,
    AuditEvent: 2,
    CallContext: 2,
    Caller: 2,
    Connection: 2,
    Entry: 2,
    Environment: 3,
    Fault: 2,
    JsonObject: 2,
    Key: 2,
    LocalCommand: 2,
    Member: 2,
    OidcSettings: 2,
    Operator: 2,
    Place: 2,
    Plan: 3,
    PlanInput: 2,
    Policy: 2,
    Project: 2,
    Provider: 2,
    ProviderKind: 2,
    ProviderState: 2,
    Reply: 2,
    Route: 2,
    Scope: 3,
    SeriesPoint: 2,
    Settings: 2,
    StatsRow: 2,
    TargetRow: 2,
    Transport: 2,
    Upgrade: 2,
  }

  it('sees an interface, a type and a class of one name', () => {
    const modules = [
      parseModule('src/a.ts', 'export interface Place { x: number }'),
      parseModule('cli/b.ts', 'export type Place = string'),
      parseModule('tui/c.ts', 'export class Place {}'),
    ]
    const found = ['Place is exported by src/a.ts, cli/b.ts, tui/c.ts: give each type a name of its own']
    expect(checkTypeNames(modules, {})).toEqual(found)
    expect(checkTypeNames(modules, { Place: 2 })).toEqual(found)
    expect(checkTypeNames(modules, { Place: 3 })).toEqual([])
  })

  it('leaves alone what is not exported, or only passed on', () => {
    const modules = [
      parseModule('src/a.ts', 'export interface Place { x: number }'),
      parseModule('cli/b.ts', 'interface Place { x: number }'),
      parseModule('tui/c.ts', "export type { Place } from '../src/a.ts'"),
    ]
    expect(checkTypeNames(modules, {})).toEqual([])
  })

  it('holds in src, cli and tui', () => {
    expect(checkTypeNames(readModules('src', 'cli', 'tui'), allowed)).toEqual([])
  })
})
