import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { verifyBackup } from '../../../src/store/backup/backup-file.ts'
import { temporaryDirectory } from '../support.ts'

it.each(['{not json', 'null', '[]', '{"seal":null}'])(
  'whose head is %s is refused in words, though its checksum is right',
  async (head) => {
    const file = join(temporaryDirectory(), 'odd.backup')
    writeFileSync(file, `spgw-backup 1 ${createHash('sha256').update(head).digest('hex')}\n${head}\nrest`)
    await expect(verifyBackup(file, () => {})).rejects.toMatchObject({
      name: 'BackupRefused',
      message: `${file} is damaged: its header cannot be read.`,
    })
  },
)
