import { expect, it, onTestFinished } from 'vitest'
import { newId } from '../../../src/core/ids.ts'
import { readHead } from '../../../src/store/records/record-head.ts'
import { nameTags } from '../../../src/store/records/record-json.ts'
import { scanTagged } from '../../../src/store/records/record-scan.ts'
import { openTestStore } from '../../support/empty-database.ts'
import { sampleRecord } from '../../support/sample-record.ts'
import { storePaths, temporaryDirectory } from '../support.ts'

it('reads whole only the records whose end does not tell their tags', async () => {
  const store = await openTestStore(storePaths(temporaryDirectory()).databasePath)
  onTestFinished(() => store.close())
  const long = { user: 'ü'.repeat(600) }
  const all: Record<string, string>[] = [{ team: 'a' }, long, { team: 'b' }, {}]
  const { connection } = store
  for (const [index, tags] of all.entries()) {
    // Ids of one millisecond have no order.
    const text = JSON.stringify(sampleRecord({ id: newId('req', Date.now() + index), tags }))
    const head = readHead(text, 'settled')
    if (head === null) throw new Error('a record without a head')
    await connection.writeHot((hot) => hot.writeRecord(head, '', text))
  }
  const read: [tags: readonly string[], whole: boolean][] = []
  for await (const { rows } of scanTagged(connection.db, { limit: 1 }))
    for (const { tags, record_json: text } of rows) read.push([tags ?? nameTags(text ?? ''), text !== undefined])
  expect(read).toEqual([
    [[], false],
    [['team=b'], false],
    [[`user=${long.user}`], true],
    [['team=a'], false],
  ])
})
