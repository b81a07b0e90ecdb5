import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { catalog } from '../../cli/catalog.ts'
import { buildProgram } from '../../cli/program.ts'
import { deriveContract } from '../../scripts/derive-contract.ts'
import { listOperations } from '../../src/admin/contract/operations.ts'
import { localCommands } from '../../src/local-commands.ts'
import { deriveAreas } from '../../tui/areas.ts'
import { fakeIo } from '../cli/fake-io.ts'

/** What each face can do, told by the face itself. That each is also reached by a person is for its own tests. */
const faces: Record<string, () => Promise<string[]>> = {
  'command line': async () => (await listCommands()).filter((name) => !localNames.includes(name)),
  'terminal interface': async () =>
    deriveAreas(catalog).flatMap(({ operations }) => operations.map(({ name }) => name)),
  console: async () => deriveContract().map(({ name }) => name),
}

/** What is done at the machine's command line alone, and offered nowhere else. */
const onMachine = listOperations().flatMap(({ name, meta }) => (meta.onMachine === true ? [name] : []))

const localNames = localCommands.map(({ name }) => name)

async function listCommands(): Promise<string[]> {
  const parts = { operations: async () => catalog, local: localCommands, io: fakeIo(), version: '0.1.0' }
  const connect = () => Promise.reject(new Error('nothing is called here'))
  return leavesOf(await buildProgram({ ...parts, connect }, () => {}))
}

function leavesOf(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join('.')]
  return command.commands.flatMap((inner) => leavesOf(inner, [...path, inner.name()]))
}

describe('one set of operations', () => {
  const names = listOperations().map(({ name }) => name)

  it('has no operation under the name of a command of the machine', () => {
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => localNames.includes(name))).toEqual([])
  })

  it.each(Object.keys(faces))('is what the %s has, no more and no less', async (face) => {
    const offered = face === 'command line' ? names : names.filter((name) => !onMachine.includes(name))
    expect((await faces[face]?.())?.sort()).toEqual([...offered].sort())
  })

  it('tells everywhere who may call what', () => {
    const asked = new Map(listOperations().map(({ name, meta }) => [name, [meta.role, meta.reach, meta.effect]]))
    for (const { name, meta } of [...catalog, ...deriveContract()])
      expect([meta.role, meta.reach, meta.effect]).toEqual(asked.get(name))
  })
})
