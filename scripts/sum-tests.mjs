/**
 * `node scripts/sum-tests.mjs RESULTS…`: one line with the sums of vitest's JSON reports, before it the skipped tests by name,
 * and the flaky files: those that failed in a report and passed in a later one, that of their second run. Reports that were not
 * written are left out. Exits with 1 unless every test ran and passed. `--failed RESULTS` prints the files with failures instead,
 * one a line.
 */
import { existsSync, readFileSync } from 'node:fs'

const names = process.argv.slice(2).filter((argument) => argument !== '--failed')
const files = names.flatMap((name) => (existsSync(name) ? JSON.parse(readFileSync(name, 'utf8')).testResults : []))
const failed = files.filter(({ status }) => status !== 'passed')

if (process.argv.includes('--failed')) for (const { name } of failed) process.stdout.write(`${name}\n`)
else sum()

function sum() {
  // A file that failed counts as its second run went.
  const results = new Map(files.map((file) => [file.name, file]))
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const { name, status, assertionResults } of results.values()) {
    // One that could not be loaded has no tests that could say so.
    if (status !== 'passed' && assertionResults.every((test) => test.status !== 'failed')) counts.failed++
    for (const test of assertionResults) {
      if (test.status === 'passed') counts.passed++
      else if (test.status === 'failed') counts.failed++
      else {
        counts.skipped++
        process.stdout.write(`skipped: ${name} > ${test.fullName}\n`)
      }
    }
  }
  for (const file of failed)
    if (results.get(file.name).status === 'passed') process.stdout.write(`flaky: ${file.name}\n${faultsOf(file)}`)
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  process.exitCode = counts.failed === 0 && counts.skipped === 0 && counts.passed > 0 ? 0 : 1
}

function faultsOf({ message, assertionResults }) {
  const faults = assertionResults.filter(({ status }) => status === 'failed')
  const lines = faults.map(({ fullName, failureMessages }) => `  ${fullName}: ${failureMessages[0]?.split('\n')[0]}`)
  return `${lines.length === 0 ? `  ${message}` : lines.join('\n')}\n`
}
