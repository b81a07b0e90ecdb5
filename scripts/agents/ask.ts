import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Installed } from './install.ts'

/** No client needs as long: one that hangs is ended. */
const longestMs = 180_000

interface Place {
  installed: Installed
  work: string
  environment: Record<string, string>
}

/** What the program printed, however it ended. */
export function ask([program = '', ...argv]: readonly string[], place: Place): Promise<string> {
  const ended = Promise.withResolvers<string>()
  const rest = argv.map((word) => placeProgram(word, dirname(dirname(place.installed.programs))))
  const options = {
    cwd: place.work,
    env: place.environment,
    timeout: longestMs,
    killSignal: 'SIGKILL' as const,
    maxBuffer: 64e6,
  }
  const child = execFile(program, rest, options, (error, stdout, stderr) =>
    ended.resolve(`${stdout}\n${stderr}${error === null ? '' : `\n${error.message.slice(0, 200)}`}`),
  )
  // Many wait for what a pipe may still bring.
  child.stdin?.end()
  return ended.promise
}

/** Node looks for packages from where a program is. */
function placeProgram(word: string, directory: string): string {
  const program = join(import.meta.dirname, 'programs', word)
  if (word.endsWith('.py')) return program
  if (!word.endsWith('.mjs')) return word
  copyFileSync(program, join(directory, word))
  return join(directory, word)
}
