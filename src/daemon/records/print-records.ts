import { csvLine } from '../../core/text/csv.ts'

/** What a local command knows, as `--output` asks for it; null where people are to read it. A list has members of the same names. */
export async function printRecords(output: string, document: object | readonly object[]): Promise<string | null> {
  if (output === 'table') return null
  if (output === 'csv') {
    const rows: readonly object[] = Array.isArray(document) ? document : [document]
    return csvLine(Object.keys(rows[0] ?? {})) + rows.map((row) => csvLine(Object.values(row))).join('')
  }
  if (output === 'json') return `${JSON.stringify(document, null, 2)}\n`
  const { printYaml } = await import('../commands/print-yaml.ts')
  return printYaml(document)
}
