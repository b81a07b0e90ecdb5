import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import lock from '../package-lock.json' with { type: 'json' }
import { hostPlatform } from './bundle.ts'

const run = promisify(execFile)

/**
 * The path of Node's binary for a platform (`linux-arm64`) in the version that runs: its own on this platform; for another
 * one npm's package of it, which must be the one that package-lock.json names. Kept in `scratch`.
 */
export async function platformNode(platform: string, scratch: string): Promise<string> {
  if (platform === hostPlatform()) return process.execPath
  const name = `node-${platform}`
  const version = process.version.slice(1)
  const locked = Object.entries(lock.packages).find(([path]) => path === `node_modules/${name}`)?.[1]
  if (locked === undefined || !('integrity' in locked) || locked.version !== version)
    throw new Error(`package-lock.json has no ${name} ${version}: no executable can be made for ${platform} here.`)
  const kept = join(scratch, `${name}-${version}`)
  const isKept = await stat(kept).catch(() => null)
  if (isKept !== null) return kept
  const work = await mkdtemp(join(scratch, 'node-'))
  try {
    await run('npm', ['pack', `${name}@${version}`, '--pack-destination', work])
    const archive = join(work, `${name}-${version}.tgz`)
    const found = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64')
    if (`sha512-${found}` !== locked.integrity)
      throw new Error(`${name} ${version} is not the one in package-lock.json.`)
    await run('tar', ['-xzf', archive, '-C', work, 'package/bin/node'])
    await mkdir(scratch, { recursive: true })
    await rename(join(work, 'package/bin/node'), kept)
    return kept
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
