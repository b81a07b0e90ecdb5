import { join } from 'node:path'
import { run } from './children.ts'
import type { Machine } from './machine.ts'

/** Compiles `NAME.c` of this directory into `directory`. */
export async function compile(machine: Machine, directory: string, name: string): Promise<string> {
  if (!machine.has.gcc) throw new Error('the bench needs gcc, for its mock and its load (Debian: gcc libc6-dev)')
  const program = join(directory, name)
  await run(machine, ['gcc', '-O2', '-o', program, join(import.meta.dirname, `${name}.c`)], { place: 'load' })
  return program
}
