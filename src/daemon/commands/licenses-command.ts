import { join } from 'node:path'
import type { DaemonCommand } from './local-command.ts'

declare const __BUNDLED__: boolean | undefined

/** One package that the executable contains. `scripts/licenses.ts` collects them when spgw is built. */
export interface Notice {
  name: string
  version: string
  /** SPDX identifier. */
  license: string
  text: string
}

export const licensesCommand: DaemonCommand = {
  name: 'licenses',
  summary: 'Show the licenses of spgw and of everything that it contains',
  options: [],
  examples: ['licenses', 'licenses --json'],
  async run(_options, io, { output }) {
    const notices: Notice[] = JSON.parse(await readNotices())
    const { printRecords } = await import('../records/print-records.ts')
    await io.stdout.write((await printRecords(output, notices)) ?? renderNotices(notices))
    return 0
  },
}

/** From the sources, the notices of the last build. */
async function readNotices(): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  const bundled = typeof __BUNDLED__ !== 'undefined' && __BUNDLED__
  const directory = bundled ? import.meta.dirname : join(import.meta.dirname, '../../../.build/bundle')
  try {
    return await readFile(join(directory, 'licenses.json'), 'utf8')
  } catch (error) {
    if (bundled) throw error
    const hint = 'Run npm run build first: the build collects the licenses.'
    throw Object.assign(new Error('The licenses have not been collected.'), { hint })
  }
}

/** A list, then the texts; many packages share one text, which is shown once. */
export function renderNotices(notices: readonly Notice[]): string {
  const label = ({ name, version }: Notice) => `${name} ${version}`
  const width = Math.max(...notices.map((notice) => label(notice).length))
  const list = notices.map((notice) => `${label(notice).padEnd(width)}  ${notice.license}\n`).join('')
  const texts = [...Map.groupBy(notices, ({ text }) => text)].map(
    ([text, sharing]) =>
      `\n${'-'.repeat(80)}\n${sharing.map((one) => `${label(one)} (${one.license})\n`).join('')}\n${text}\n`,
  )
  return list + texts.join('')
}
