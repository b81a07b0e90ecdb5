import type { DerivedOperation } from '../../contract/derived.ts'
import { Button } from '../../parts/index.ts'
import { datedName, useDownload } from '../settings/download.ts'
import { DownloadProgress } from '../settings/download-progress.tsx'
import { InputForm } from './input-form.tsx'

interface FileAnswerProps {
  operation: DerivedOperation
  preset: Record<string, string>
  /** What the file is called, before the time. */
  name: string
}

/** An answer that is a file: it is saved when it has come whole. */
export function FileAnswer({ operation, preset, name }: FileAnswerProps) {
  const ending = operation.name.startsWith('backup') ? 'backup' : 'jsonl'
  const { download, fault, start, stop } = useDownload(operation.path, datedName(name, ending))
  const busy = download.state === 'preparing' || download.state === 'receiving'
  return (
    <div className="stack">
      <InputForm operation={operation} preset={preset} fault={fault} onInput={(input) => void start(input)}>
        <Button look="primary" type="submit" busy={busy}>
          Download
        </Button>
        <Button disabled={!busy} onClick={stop}>
          Cancel
        </Button>
      </InputForm>
      <DownloadProgress download={download} />
    </div>
  )
}
