import { readFlags } from './read-flags.ts'
import { traceRequest } from './trace/trace.ts'

const help = `npm run trace [-- --list | --json]

Prints the files that one chat request enters, and counts files, jumps between them, calls and functions.

  --list   every call in order instead of the files
  --json   all of it as JSON
`
const { values } = readFlags(help, {
  options: { list: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
})
const trace = await traceRequest()
const print = (line: string) => process.stdout.write(`${line}\n`)
const distinct = new Set(trace.calls.map(({ file, line, name }) => `${file}:${line}:${name}`)).size
if (values.json) {
  print(JSON.stringify({ ...trace, functions: distinct }, null, 2))
} else {
  if (values.list) {
    for (const { file, line, name } of trace.calls) print(`${file}:${line}  ${name}`)
  } else {
    for (const file of trace.files.toSorted()) print(file)
  }
  print(`${trace.files.length} files, ${trace.jumps} jumps, ${trace.calls.length} calls of ${distinct} functions`)
}
