import { catalog } from '../cli/catalog.ts'
import { globalTerms, listCommands } from '../cli/manual/commands.ts'
import { writeCommandReference } from '../cli/manual/markdown.ts'
import { localCommands } from '../src/local-commands.ts'
import { apiReference } from './api-reference.ts'
import { errorReference } from './error-reference.ts'
import { translationReference } from './translation-reference.ts'

/** The pages below `docs/reference/`, by name, each made from what the program itself goes by. */
export async function referencePages(): Promise<Record<string, string>> {
  return {
    'api.md': await apiReference(),
    'cli.md': writeCommandReference(listCommands(catalog, localCommands), globalTerms),
    'errors.md': errorReference(),
    'translation.md': translationReference(),
  }
}
