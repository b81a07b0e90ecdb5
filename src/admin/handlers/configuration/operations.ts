import { writeDocument } from '../../../declared/write.ts'
import { operations } from '../base.ts'
import { applyFiles } from './apply.ts'
import { planFiles, showPlan } from './plan.ts'
import { describeState } from './state.ts'

export const diff = operations.diff.handler(async ({ context, input }) => showPlan(await planFiles(context, input)))

export const apply = operations.apply.handler(({ context, input }) => applyFiles(context, input))

const heading =
  ' The configuration of a gateway, written by `spgw export`. Look at what it would change: spgw diff -f FILE.\n' +
  ' Fields that are not named are as they are when nobody sets them.'

export const exportConfiguration = operations.export.handler(async ({ context, input }) => {
  const { resources } = describeState(await context.store.configuration.read(), context.keyring)
  const wanted = resources.filter(({ kind }) => kind !== 'key' || !input.withoutKeys)
  const { text, tree } = writeDocument(wanted, input.owner ?? null, heading)
  return { text, document: tree }
})
