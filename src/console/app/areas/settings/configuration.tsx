import { DownloadIcon } from 'lucide-react'
import { useState } from 'react'
import { Button, Code, ConfirmDialog, FormFault, useOperation } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { datedName, save } from '../download.tsx'
import type { DiffPlan, Exported } from '../outputs.ts'
import { Section } from '../section.tsx'
import { pluralize } from '../units.ts'
import { FileFields } from './file-fields.tsx'
import { AppliedView, PlanView } from './plan-view.tsx'
import { useConfigurationFile } from './use-configuration-file.ts'

/** The same as `spgw diff`, `apply` and `export`: the plan is always seen before anything is done. */
export function Configuration() {
  const mayExport = useMay('export')
  return (
    <>
      <ApplyFile />
      {mayExport ? <ExportFile /> : null}
    </>
  )
}

function ApplyFile() {
  const file = useConfigurationFile()
  const { plan } = file
  const mayApply = useMay('apply') && plan !== null && plan.problems.length + plan.unset.length === 0
  const removes = plan?.changes.some(({ action }) => action === 'remove') === true
  return (
    <Section title="Apply configuration">
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void file.show()
        }}
      >
        <FileFields file={file} />
        <FormFault fault={file.fault} shown={[]} />
        <div className="row">
          <Button
            variant={plan === null ? 'primary' : 'plain'}
            type="submit"
            busy={file.planning}
            disabled={file.text.trim() === ''}
          >
            Show plan
          </Button>
          {mayApply ? (
            <Button variant="primary" busy={file.applying} onClick={() => file.ask(true)}>
              Apply {pluralize(plan.changes.length, 'change')}
            </Button>
          ) : null}
        </div>
      </form>
      {plan === null ? null : <PlanView plan={plan} />}
      {file.applied === null ? null : <AppliedView applied={file.applied} />}
      <ConfirmDialog
        open={file.asking}
        title="Apply configuration"
        confirm="Apply"
        {...(removes ? { name: plan.owner } : {})}
        onConfirm={file.apply}
        onClose={() => file.ask(false)}
      >
        <p>{plan === null ? null : describePlan(plan)}</p>
      </ConfirmDialog>
    </Section>
  )
}

function describePlan({ changes, owner }: DiffPlan): string {
  const of = (action: string) => changes.filter((change) => change.action === action).length
  return `${of('create')} created, ${of('change')} changed, ${of('remove')} removed. Everything in the file will be managed by ${owner}. No request is dropped.`
}

export function ExportFile() {
  const { call, busy, fault } = useOperation('export')
  const [text, setText] = useState<string | null>(null)
  const write = async () => {
    const exported = (await call({})) as Exported | null
    if (exported !== null) setText(exported.text)
  }
  return (
    <Section title="Export configuration">
      <div className="stack">
        <p className="quiet">
          A file to apply elsewhere. Keys are exported as hashes, so a new gateway accepts the same keys. Credentials
          are not included.
        </p>
        <div className="row">
          <Button busy={busy} onClick={() => void write()}>
            Export
          </Button>
          {text === null ? null : (
            <Button
              icon={<DownloadIcon size={16} aria-hidden="true" />}
              onClick={() => save(new Blob([text]), datedName('spgw', 'yaml'))}
            >
              Download
            </Button>
          )}
        </div>
        <FormFault fault={fault} shown={[]} />
        {text === null ? null : <Code text={text} />}
      </div>
    </Section>
  )
}
