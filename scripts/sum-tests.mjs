/**
 * `node scripts/sum-tests.mjs RESULTS`: one line with the sums of vitest's JSON report, the skipped tests by name before
 * it. Exits with 1 unless every test ran and passed.
 */
import { readFileSync } from 'node:fs'

const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const tests = report.testResults.flatMap((file) => file.assertionResults)
const skipped = tests.filter((test) => ['pending', 'skipped', 'todo', 'disabled'].includes(test.status))
const passed = tests.filter((test) => test.status === 'passed').length
const failed = tests.length - passed - skipped.length

for (const test of skipped) process.stdout.write(`skipped: ${test.fullName}\n`)
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.length} skipped\n`)
process.exitCode = report.success && failed === 0 && skipped.length === 0 && passed > 0 ? 0 : 1
