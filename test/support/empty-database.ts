import { existsSync } from 'node:fs'
import { copyFile, rename } from 'node:fs/promises'
import { type OpenStore, openStore } from '../../src/store/sqlite/open.ts'

/**
 * Puts a database there that has its tables and nothing in them. All migrations cost a gateway that starts a tenth of a second
 * of processor time: a run of the tests makes them once. Tests of what a first start does give a directory of their own.
 * False where no run says where it is kept.
 */
export async function placeEmptyDatabase(path: string): Promise<boolean> {
  const kept = process.env.SPGW_TEST_DATABASE
  if (kept === undefined) return false
  if (!existsSync(kept)) {
    const own = `${kept}-${process.pid}`
    await (await openStore({ path: own })).close()
    await rename(own, kept)
  }
  await copyFile(kept, path)
  return true
}

/** Opens the database there; where there is none, one that has its tables already. */
export async function openTestStore(path: string): Promise<OpenStore> {
  if (!existsSync(path)) await placeEmptyDatabase(path)
  return await openStore({ path })
}
