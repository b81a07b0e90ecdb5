import { existsSync, lchownSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Root sets up or restores for a gateway that runs as somebody else: what root makes in that one's data directory has to be
 * that one's. Does nothing for anybody else, or where the directory is root's own.
 */
export function giveToOwner(dataDirectory: string, names: readonly string[]): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dataDirectory)
  if (uid === 0) return
  for (const name of names.filter((each) => existsSync(join(dataDirectory, each)))) {
    const path = join(dataDirectory, name)
    const inner = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }) : []
    for (const each of [path, ...inner.map((below) => join(path, below))]) lchownSync(each, uid, gid)
  }
}
