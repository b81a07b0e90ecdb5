import { join } from 'node:path'
import type { LocalCommand } from '../local-command.ts'
import type { Operation } from '../operation.ts'

export interface Manual {
  operations(): Promise<readonly Operation[]>
  local(): readonly LocalCommand[]
  version: string
}

export function makeManCommand(manual: Manual): LocalCommand {
  return {
    name: 'man',
    summary: 'Print the manual page, or write all manual pages to a directory',
    arguments: [
      {
        name: 'directory',
        description: 'Directory to write to, created if it does not exist; or a command, to print its page: keys',
        optional: true,
      },
    ],
    options: [],
    examples: ['man | man -l -', 'man keys | man -l -', 'man /usr/local/share/man/man1'],
    async run({ directory }, io) {
      const { globalTerms, listCommands } = await import('./commands.ts')
      const { writeManPages } = await import('./man.ts')
      const pages = writeManPages(listCommands(await manual.operations(), manual.local()), globalTerms, manual.version)
      // Nobody who asks for the page of a command wants a directory of its name; `./keys` is one.
      const isOnFirst = directory === undefined || manual.local().some(({ name }) => name === directory)
      const asked = isOnFirst ? pages[0] : pages.find(({ file }) => file === `spgw-${String(directory)}.1`)
      if (asked !== undefined || typeof directory !== 'string') {
        await io.stdout.write(asked?.text ?? '')
        return 0
      }
      const { mkdir, writeFile } = await import('node:fs/promises')
      await mkdir(directory, { recursive: true })
      for (const { file, text } of pages) await writeFile(join(directory, file), text)
      await io.stderr.write(`Wrote ${pages.length} manual pages to ${directory}.\n`)
      return 0
    },
  }
}
