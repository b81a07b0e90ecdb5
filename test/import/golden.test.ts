import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseSettingsFile } from '../../src/config/settings-file.ts'
import { type Converted, writeConverted } from '../../src/import/converted.ts'
import { convertLitellm } from '../../src/import/litellm.ts'
import { convertPortkey } from '../../src/import/portkey.ts'
import { checkOutcome } from '../../src/manifest/check.ts'
import { makePlan } from '../../src/manifest/plan.ts'
import { readDocuments } from '../../src/manifest/read.ts'

/** One case a file: the other program's file, our file, and what was left out, with lines of dashes between them. */
const directory = join(import.meta.dirname, '../fixtures/import')
const cases = readdirSync(directory).sort()
const line = `\n${'-'.repeat(40)}\n`

function convert(name: string, text: string): Converted {
  const file = parseSettingsFile(text, 'source')
  return name.startsWith('litellm') ? convertLitellm(file) : convertPortkey(file, '*')
}

function describeLeft({ left }: Converted): string {
  return left.map(({ place, what, reason, advice }) => `${place}: ${what}: ${reason}.\n  ${advice}\n`).join('')
}

describe('what another program has', () => {
  it.each(cases)('is carried as in %s', (name) => {
    const [input = '', output, left] = readFileSync(join(directory, name), 'utf8').split(line)
    const converted = convert(name, input)
    expect(writeConverted(converted, 'source')).toBe(output)
    expect(describeLeft(converted)).toBe(left)
    // Whoever pastes a command of the advice is not told that its name is missing.
    expect(left).not.toMatch(/spgw \w+ (?:add|edit) --(?!help)/)
  })

  it.each(cases)('comes to a file that can be applied, without a secret: %s', async (name) => {
    const [input = ''] = readFileSync(join(directory, name), 'utf8').split(line)
    const text = writeConverted(convert(name, input), 'source')
    expect(text).not.toContain('canary')
    const variables = Object.fromEntries(
      [...text.matchAll(/\$\{(\w+)\}/g)].map(([, variable = '']) => {
        return [
          variable,
          variable.endsWith('_WEBHOOK_URL') || variable === 'WEBHOOK_URL' ? 'https://hooks.example/x' : 'x',
        ]
      }),
    )
    const scope = { name: 'scope', text: 'projects: [{ name: default, environments: [production] }]' }
    const { entries, problems } = readDocuments([scope, { name: 'converted', text }], variables)
    const plan = await makePlan({ resources: [], entries, owner: 'file', prune: false, force: false })
    expect([...problems, ...plan.problems, ...(await checkOutcome(plan, () => true))]).toEqual([])
    expect(plan.changes.filter(({ kind }) => kind === 'route').length).toBeGreaterThan(0)
  })
})
