import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** What each run of npm comes to: the files that fail in it; null: it breaks off. */
type Runs = Partial<Record<'check' | 'units' | 'others' | 'again', readonly string[] | null>>

const all = ['one', 'two', 'three', 'four', 'five', 'six']

/** Takes the place of npm: writes the results that the test wants, and says what it was asked for. */
const npm = `#!/usr/bin/env bash
echo "$*" >>"$STAGE/asked"
case "$*" in
  *' check '*) run=check ;;
  *'--project unit'*) run=units ;;
  *'--project e2e'*) run=others ;;
  *) run=again ;;
esac
for word in "$@"; do case $word in --outputFile.json=*) file=\${word#*=} ;; esac; done
[[ -f $STAGE/$run.json ]] && cp "$STAGE/$run.json" "$file"
exit "$(cat "$STAGE/$run.status")"
`

/** Runs \`.ci/run\` where all that it calls is there, and does nothing. */
async function runGate(runs: Runs): Promise<{ passes: boolean; output: string; asked: string[] }> {
  const stage = mkdtempSync(join(tmpdir(), 'gate-'))
  onTestFinished(() => rmSync(stage, { recursive: true, force: true }))
  for (const directory of ['.ci', 'scripts', 'programs']) mkdirSync(join(stage, directory))
  copyFileSync(join(root, '.ci/run'), join(stage, '.ci/run'))
  copyFileSync(join(root, 'scripts/sum-tests.mjs'), join(stage, 'scripts/sum-tests.mjs'))
  writeFileSync(join(stage, 'scripts/setup.mjs'), '')
  const program = (name: string, text: string) => writeFileSync(join(stage, 'programs', name), text, { mode: 0o755 })
  const script = readFileSync(join(root, '.ci/run'), 'utf8')
  const needed = [...script.matchAll(/ ?\[([\w-]+)\]=/g)].map(([, name = '']) => name)
  for (const name of [...needed, 'chromium-headless-shell', 'apt-get', 'sudo']) program(name, '#!/bin/sh\nexit 1\n')
  program('npm', npm)
  for (const run of ['check', 'units', 'others', 'again'] as const) {
    const failing = runs[run] === undefined ? [] : runs[run]
    writeFileSync(join(stage, `${run}.status`), failing?.length === 0 ? '0' : '1')
    if (failing !== null)
      writeFileSync(join(stage, `${run}.json`), results(run === 'again' ? all : [run, ...all], failing))
  }
  const environment = { PATH: `${join(stage, 'programs')}:${join(process.execPath, '..')}:/usr/bin:/bin`, STAGE: stage }
  return await new Promise((resolve) => {
    execFile('bash', [join(stage, '.ci/run')], { env: environment }, (error, stdout, stderr) => {
      const asked = readFileSync(join(stage, 'asked'), 'utf8').trimEnd().split('\n')
      resolve({ passes: error === null, output: stdout + stderr, asked })
    })
  })
}

function results(files: readonly string[], failing: readonly string[]): string {
  const testResults = files.map((name) => {
    const status = failing.includes(name) ? 'failed' : 'passed'
    return {
      name,
      status,
      message: '',
      assertionResults: [{ status, fullName: `of ${name}`, failureMessages: ['no'] }],
    }
  })
  return JSON.stringify({ testResults })
}

it('passes where nothing fails, and runs nothing twice', async () => {
  const { passes, output, asked } = await runGate({})
  expect([passes, output]).toEqual([true, expect.stringMatching(/\n9 passed, 0 failed, 0 skipped\n$/)])
  expect(asked).toHaveLength(3)
})

it('runs what failed once more, alone, and names it as flaky where it passes then', async () => {
  const { passes, output, asked } = await runGate({ others: ['one'], units: ['two', 'three'] })
  const flaky = output.split('\n').filter((line) => line.startsWith('flaky: '))
  expect([passes, flaky.sort()]).toEqual([true, ['flaky: one', 'flaky: three', 'flaky: two']])
  expect(asked.at(-1)).toMatch(/--maxWorkers 1 one two three$/)
})

it.each<[string, Runs]>([
  ['a test fails again', { units: ['one'], again: ['one'] }],
  ['the check fails', { check: ['one'] }],
  ['a run breaks off, and another has something to run again', { others: null, units: ['one'] }],
  ['the run of unit tests breaks off, and another has something to run again', { units: null, others: ['one'] }],
  ['more fails in two runs than chance would have it', { others: all.slice(0, 3), units: all.slice(3) }],
])('fails where %s', async (_what, runs) => {
  expect((await runGate(runs)).passes).toBe(false)
})
