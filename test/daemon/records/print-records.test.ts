import { expect, it } from 'vitest'
import { versionCommand } from '../../../src/daemon/commands/commands.ts'
import { printRecords } from '../../../src/daemon/records/print-records.ts'

const notices = [
  { name: 'a', license: 'MIT', text: 'one\ntwo' },
  { name: 'b', license: 'ISC', text: '' },
]

it.each([
  ['table', null],
  ['json', `${JSON.stringify(notices, null, 2)}\n`],
  ['csv', 'name,license,text\na,MIT,"one\ntwo"\nb,ISC,\n'],
  ['yaml', '- name: a\n  license: MIT\n  text: |-\n    one\n    two\n- name: b\n  license: ISC\n  text: ""\n'],
])('prints records as %s', async (output, want) => expect(await printRecords(output, notices)).toBe(want))

it.each([
  ['table', /^spgw \S+\n$/],
  ['json', /^\{\n {2}"version": "/],
  ['yaml', /^version: \S+\nnode: \S+\nplatform: \S+\n$/],
  ['csv', /^version,node,platform\n[^,\n]+,[^,\n]+,[^,\n]+\n$/],
])('spgw version --output %s', async (output, want) => {
  const written: string[] = []
  const stream = { isTerminal: false, write: async (text: string) => void written.push(text) }
  const io = {
    stdout: stream,
    stderr: stream,
    stdin: { isTerminal: false, readAll: async () => '' },
    environment: {},
    prompter: { askHidden: async () => '', confirm: async () => false },
  }
  await versionCommand.run({}, io, { dataDir: null, output, yes: false })
  expect(written.join('')).toMatch(want)
})
