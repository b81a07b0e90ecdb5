import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import type { RequestRow } from '../../live/status-output.ts'
import { Button, Dialog } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { Replay } from './replay.tsx'

export function ReplayButton({ record }: { record: RequestRow }) {
  const [open, setOpen] = useState(false)
  if (!useMay('requests.replay', record.project)) return null
  return (
    <>
      <Button
        icon={<RotateCw size={14} aria-hidden="true" />}
        title="Send the captured request again"
        onClick={() => setOpen(true)}
      >
        Replay
      </Button>
      <Dialog open={open} title="Replay request" onClose={() => setOpen(false)}>
        <Replay record={record} onClose={() => setOpen(false)} />
      </Dialog>
    </>
  )
}
