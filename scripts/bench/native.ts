import { join } from 'node:path'
import { run } from './children.ts'
import type { Machine } from './machine.ts'

/** Compiles `NAME.c` of this directory into `directory`; null where there is no compiler. */
export async function compile(machine: Machine, directory: string, name: string): Promise<string | null> {
  if (!machine.has.gcc) return null
  const program = join(directory, name)
  await run(machine, ['gcc', '-O2', '-o', program, join(import.meta.dirname, `${name}.c`)], { place: 'load' })
  return program
}
