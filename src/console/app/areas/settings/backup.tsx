import { DownloadIcon, Square } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { operationNamed } from '../../contract/operations.ts'
import { type FormValues, inputOf, valuesOf } from '../../parts/form-values.ts'
import { Button, Command, entriesOf, FormFault, FormField, RecordView } from '../../parts/index.ts'
import { DownloadProgress, datedName, useDownload } from '../download.tsx'
import { Section } from '../section.tsx'

/** Taken while requests go on; as the command line takes it, and checked to its last byte. */
export function Backup() {
  const { fields } = operationNamed('backup')
  const [values, setValues] = useState<FormValues>(() => valuesOf(fields))
  const { download, fault, start, stop } = useDownload(['backup'], datedName('spgw-backup', 'backup'))
  const busy = download.state === 'preparing' || download.state === 'receiving'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void start(inputOf(fields, values, null))
  }
  return (
    <>
      <p className="quiet">
        A consistent copy of the running gateway. Its credentials are sealed for the recovery key: create that first,
        under Seal.
      </p>
      <form className="stack form" onSubmit={submit}>
        {fields.map((field) => (
          <FormField
            key={field.name}
            field={field}
            value={values[field.name] ?? false}
            onChange={(value) => setValues((all) => ({ ...all, [field.name]: value }))}
          />
        ))}
        <FormFault fault={fault} shown={[]} />
        <div className="row">
          <Button variant="primary" type="submit" busy={busy} icon={<DownloadIcon size={16} aria-hidden="true" />}>
            Download backup
          </Button>
          {busy ? (
            <Button icon={<Square size={16} aria-hidden="true" />} onClick={stop}>
              Cancel
            </Button>
          ) : null}
        </div>
      </form>
      <div className="row">
        <span className="quiet">On the command line:</span>
        <Command text="spgw backup gateway.backup" />
        <Command text="spgw restore gateway.backup" />
      </div>
      <DownloadProgress download={download} />
      {download.state === 'done' ? (
        <Section title="Contents">
          <RecordView
            entries={[
              ...entriesOf(download.summary),
              { label: 'SHA-256', value: <code className="breakable">{download.sha256}</code> },
            ]}
          />
        </Section>
      ) : null}
    </>
  )
}
