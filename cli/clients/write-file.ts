import { chmod, copyFile, mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** null: there is none. */
export async function readSettings(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
}

/**
 * Puts a text in the place of a file, whole or not at all, and gives where what stood there is kept; null where nothing
 * did. A link goes on leading to its file.
 */
export async function replaceFile(
  path: string,
  text: string,
  options: { secret: boolean; stamp: string },
): Promise<string | null> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const real = await realpath(path).catch(() => path)
  const mode = (await stat(real).catch(() => null))?.mode
  const kept = mode === undefined ? null : `${real}.${options.stamp}.bak`
  if (kept !== null) {
    await copyFile(real, kept)
    await chmod(kept, 0o600)
  }
  const part = `${real}.part`
  await writeFile(part, text, { mode: 0o600 })
  await chmod(part, options.secret || mode === undefined ? 0o600 : mode & 0o777)
  await rename(part, real)
  return kept
}
