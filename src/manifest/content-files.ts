import { parseSettingsFile } from '../config/settings-file.ts'
import { SettingsRefused } from '../config/settings-refused.ts'
import { type ContentRule, readContentRules } from '../core/policies/content-rules.ts'

/** Far more than any set of rules; a larger text would stop others while it is parsed. */
const mostCharacters = 256 * 1024

const expected = 'expected `rules:` and below it the list of rules'

/** The rules in files of YAML or JSON, together. */
export function readContentFiles(
  files: Readonly<Record<string, string>>,
): { rules: ContentRule[] } | { wrong: string } {
  const rules: ContentRule[] = []
  for (const [name, text] of Object.entries(files)) {
    const read = text.length > mostCharacters ? { wrong: 'it is larger than 256 KiB' } : readContentFile(name, text)
    if ('wrong' in read) return { wrong: `${name}: ${read.wrong}` }
    rules.push(...read.rules)
  }
  // Once more, together: names must differ.
  return readContentRules(rules)
}

function readContentFile(name: string, text: string): { rules: ContentRule[] } | { wrong: string } {
  try {
    return readContentRules(parseSettingsFile(text, name, expected).tree)
  } catch (error) {
    if (!(error instanceof SettingsRefused)) throw error
    const [problem] = error.problems
    return {
      wrong:
        problem === undefined
          ? 'it is no YAML'
          : `${problem.place.replace(name, '').replace(/^:/, 'line ')}: ${problem.message}`,
    }
  }
}
