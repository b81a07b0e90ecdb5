import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
import { type Circumstances, Results, type StoredResults } from './results.ts'

/** The results so far, to which more rounds are added. Throws where they are of another executable, Node or machine. */
export async function continueFrom(path: string, circumstances: Circumstances): Promise<Results> {
  const stored: StoredResults = JSON.parse(await readFile(path, 'utf8'))
  if (!isDeepStrictEqual(stored.circumstances, circumstances))
    throw new Error(
      `${path} is of ${JSON.stringify(stored.circumstances)}, this run of ${JSON.stringify(circumstances)}; ` +
        'keep the executable (--executable FILE) to continue, or start again without --continue.',
    )
  return new Results(stored)
}

export async function keep(path: string, results: Results, circumstances: Circumstances): Promise<void> {
  await writeFile(path, `${JSON.stringify(results.store(circumstances), null, 2)}\n`)
}

export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(path)) hash.update(bytes as Buffer)
  return hash.digest('hex').slice(0, 16)
}
