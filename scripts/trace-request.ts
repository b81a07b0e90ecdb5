import { traceRequest } from './trace/trace.ts'

/** `--list` prints every call in order, `--json` all as JSON. What is counted is explained at `traceRequest`. */
const trace = await traceRequest()
const words = process.argv.slice(2)
const print = (line: string) => process.stdout.write(`${line}\n`)
const distinct = new Set(trace.calls.map(({ file, line, name }) => `${file}:${line}:${name}`)).size
if (words.includes('--json')) {
  print(JSON.stringify({ ...trace, functions: distinct }, null, 2))
} else {
  if (words.includes('--list')) {
    for (const { file, line, name } of trace.calls) print(`${file}:${line}  ${name}`)
  } else {
    for (const file of trace.files.toSorted()) print(file)
  }
  print(`${trace.files.length} files, ${trace.jumps} jumps, ${trace.calls.length} calls of ${distinct} functions`)
}
