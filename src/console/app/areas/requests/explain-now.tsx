import { useQuery } from '@tanstack/react-query'
import { Lightbulb } from 'lucide-react'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { Button, Drawer, FaultNotice } from '../../parts/index.ts'
import { Loading } from '../../shell/page.tsx'
import { Steps } from '../routing/explain-route.tsx'

/** What would happen to a request like this one at this moment; nothing is sent. */
export function ExplainNow({ record }: { record: RequestRow }) {
  const [open, setOpen] = useState(false)
  const { model, project, environment, key, lane } = record
  if (model === null || project === null || environment === null) return null
  const input = { model, project, environment, ...(key && { key: key.id }), ...(lane && { lane }) }
  return (
    <>
      <Button icon={<Lightbulb size={14} aria-hidden="true" />} onClick={() => setOpen(true)}>
        Explain now
      </Button>
      <Drawer open={open} title="What would happen now" onClose={() => setOpen(false)}>
        <Explanation input={input} />
      </Drawer>
    </>
  )
}

function Explanation({ input }: { input: { model: string; project: string; environment: string } }) {
  const explained = useQuery({ ...orpc.routes.explain.queryOptions({ input }), staleTime: 0 })
  if (explained.error !== null) return <FaultNotice error={explained.error} />
  return explained.data === undefined ? <Loading /> : <Steps explanation={explained.data} />
}
