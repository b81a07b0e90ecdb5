import { useNavigate } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { useState } from 'react'
import { admin } from '../../client/admin.ts'
import { Button, toast, toastFault } from '../../parts/index.ts'
import { useMay } from '../../session/session.ts'
import { keepScope } from '../../shell/keys.ts'

/** Sends the request again and leads to the new one's record, which fills itself as it goes on. */
export function ReplayButton({ id }: { id: string }) {
  const [busy, setBusy] = useState(false)
  const may = useMay('requests.replay')
  const navigate = useNavigate()
  const replay = async () => {
    setBusy(true)
    try {
      for await (const event of await admin.requests.replay({ id })) {
        if (event.kind !== 'begin') continue
        toast({ tone: 'good', title: 'Sent again: this is the new request.' })
        void navigate({ to: '/requests/$id', params: { id: event.request_id }, search: keepScope })
      }
    } catch (error) {
      toastFault(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button
      icon={<RotateCw size={14} aria-hidden="true" />}
      busy={busy}
      disabled={!may}
      title={may ? 'Sends the recorded body again, where a policy kept it' : 'Needs the role admin'}
      onClick={() => void replay()}
    >
      Replay
    </Button>
  )
}
