import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './checks/modules.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Written in pieces, so that this file does not trip over itself. */
const traces: [name: string, form: RegExp][] = [
  ['a path of one machine', new RegExp(`(?<![\\w.:/-])/(${['work', 'home', 'Users'].join('|')})/[a-z]`)],
  [
    'a registry',
    new RegExp(`https?://[\\w.-]*(${['registry', 'npmjs', 'npmmirror', 'artifactory', 'verdaccio'].join('|')})`),
  ],
]

function findTraces(text: string): string[] {
  return traces.filter(([, form]) => form.test(text)).map(([name]) => name)
}

describe('what is kept in the repository', () => {
  it('sees a planted trace', () => {
    expect(findTraces(`see /${'work'}/main`)).toHaveLength(1)
    expect(findTraces(`see "/${'home'}/someone/spgw"`)).toHaveLength(1)
    expect(findTraces(`https://${'registry'}.example.org/x`)).toHaveLength(1)
    expect(findTraces('https://example.org/work/x ./home/x $HOME/work')).toEqual([])
  })

  it('names no machine and no registry', () => {
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8', maxBuffer: 64e6 }).split('\0')
    const text = files.filter((path) => path !== '' && !path.startsWith('test/fixtures/bodies/'))
    expect(text.flatMap((path) => findTraces(safeRead(path)).map((trace) => `${path}: ${trace}`))).toEqual([])
  })

  it('locks versions by their contents, not by where one registry keeps them', () => {
    const lock: { packages: Record<string, { resolved?: string; integrity?: string; link?: boolean }> } = JSON.parse(
      read('package-lock.json'),
    )
    const entries = Object.entries(lock.packages).filter(([path]) => path !== '')
    expect(entries.length).toBeGreaterThan(100)
    expect(entries.filter(([, entry]) => entry.resolved !== undefined)).toEqual([])
    expect(entries.filter(([, entry]) => entry.integrity === undefined)).toEqual([])
  })

  it('pins every dependency to one version', () => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'))
    const versions = Object.entries<string>({ ...dependencies, ...devDependencies, ...optionalDependencies })
    expect(versions.filter(([, version]) => !/^(npm:.+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })
})

/** A file that was removed and not yet committed is still listed. */
function safeRead(path: string): string {
  try {
    return read(path)
  } catch {
    return ''
  }
}
