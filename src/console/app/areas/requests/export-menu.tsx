import { DownloadIcon } from 'lucide-react'
import { FaultView } from '../../parts/fault-notice.tsx'
import { Button, Dialog, Menu } from '../../parts/index.ts'
import { DownloadProgress, datedName, useDownload } from '../download.tsx'
import type { ListInput } from './request-rows.ts'

const formats = [
  { format: 'csv', title: 'CSV, for a spreadsheet' },
  { format: 'jsonl', title: 'JSON Lines, every field' },
] as const

/** Every request that the list would show, to its end. */
export function ExportMenu({ input }: { input: ListInput }) {
  const csv = useDownload(['requests', 'export'], datedName('spgw-requests', 'csv'))
  const jsonl = useDownload(['requests', 'export'], datedName('spgw-requests', 'jsonl'))
  const active = [csv, jsonl].find(({ download, fault }) => fault !== null || isBusy(download.state))
  const start = (format: 'csv' | 'jsonl') => void (format === 'csv' ? csv : jsonl).start({ ...input, format })
  return (
    <>
      <Menu
        label="Export"
        className="button button-plain"
        button={
          <>
            <DownloadIcon size={14} aria-hidden="true" />
            Export
          </>
        }
      >
        {(close) => (
          <ul className="menu-list">
            {formats.map(({ format, title }) => (
              <li key={format}>
                <button
                  type="button"
                  className="menu-item"
                  onClick={() => {
                    close()
                    start(format)
                  }}
                >
                  {title}
                </button>
              </li>
            ))}
          </ul>
        )}
      </Menu>
      <Dialog
        open={active !== undefined}
        title="Export requests"
        onClose={() => active?.stop()}
        actions={<Button onClick={() => active?.stop()}>Cancel</Button>}
      >
        {active?.fault ? <FaultView fault={active.fault} /> : null}
        {active === undefined ? null : <DownloadProgress download={active.download} />}
      </Dialog>
    </>
  )
}

function isBusy(state: string): boolean {
  return state === 'preparing' || state === 'receiving'
}
