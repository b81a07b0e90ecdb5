import { DownloadIcon } from 'lucide-react'
import { useState } from 'react'
import { Button, Code, FormFault, useOperation } from '../../parts/index.ts'
import type { Exported } from '../outputs.ts'
import { Section } from '../section.tsx'
import { datedName, save } from './download.ts'

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
