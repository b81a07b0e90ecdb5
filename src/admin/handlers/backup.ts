import type { BackupEvent } from '../contract/backup.ts'
import { audited } from './audited.ts'
import { operations } from './base.ts'
import type { AdminContext } from './context.ts'

export const backup = operations.backup.handler(async ({ context, input }) => {
  const options = { credentials: !input.withoutCredentials, records: !input.withoutRecords }
  const events = await context.runtime.backup(options)
  return streamEvents(context, events)
})

/** Who takes what stands in the audit before the first byte goes: a backup that nobody knows of is a leak. */
async function* streamEvents(context: AdminContext, events: AsyncIterable<BackupEvent>): AsyncGenerator<BackupEvent> {
  for await (const event of events) {
    if (event.kind === 'begin') await note(context, event)
    yield event
  }
}

async function note(context: AdminContext, { summary }: Extract<BackupEvent, { kind: 'begin' }>): Promise<void> {
  await audited(context, {
    operation: 'backup',
    resource: { kind: 'backup', id: summary.created_at, name: summary.created_at },
    before: null,
    after: summary,
  }).audit.note()
}
