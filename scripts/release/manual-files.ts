import { gzipSync } from 'node:zlib'
import { catalog } from '../../cli/catalog.ts'
import { scripts } from '../../cli/completion/scripts.ts'
import { globalTerms, listCommands } from '../../cli/manual/commands.ts'
import { writeManPages } from '../../cli/manual/man.ts'
import { localCommands } from '../../src/local-commands.ts'
import type { TarEntry } from './tar.ts'

/** The manual pages and what shells complete by, where Debian has them. */
export function listManualFiles(version: string): TarEntry[] {
  const file = (path: string, bytes: Buffer): TarEntry => ({ path, kind: 'file', mode: 0o644, bytes })
  const pages = writeManPages(listCommands(catalog, localCommands), globalTerms, version)
  return [
    ...pages.map((page) => file(`usr/share/man/man1/${page.file}.gz`, gzipSync(page.text))),
    file('usr/share/bash-completion/completions/spgw', Buffer.from(scripts.bash)),
    file('usr/share/fish/vendor_completions.d/spgw.fish', Buffer.from(scripts.fish)),
    file('usr/share/zsh/vendor-completions/_spgw', Buffer.from(scripts.zsh)),
  ]
}
