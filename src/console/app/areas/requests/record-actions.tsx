import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { KeyRound, Lightbulb, Waypoints } from 'lucide-react'
import { useState } from 'react'
import { orpc } from '../../client/admin.ts'
import { useLive } from '../../live/live.ts'
import type { RequestRow } from '../../live/status-output.ts'
import { Button, CopyButton, Drawer, FaultNotice } from '../../parts/index.ts'
import { keepScope } from '../../shell/keys.ts'
import { Loading } from '../../shell/page.tsx'
import { Steps } from '../routing/explain-route.tsx'
import { curlLike, curlOfCaptured } from './curl.ts'
import { bodiesQuery } from './record-bodies.tsx'
import { ReplayButton } from './replay.tsx'

export function RecordActions({ record }: { record: RequestRow }) {
  const { status } = useLive()
  const url = status?.gateway_url ?? 'http://127.0.0.1:8787'
  // The exact call once its body has been read; until then a similar one.
  const { data } = useQuery(bodiesQuery(record.id))
  const captured = data?.bodies?.request ?? null
  const curl = (captured === null ? null : curlOfCaptured(captured, record.streamed, url)) ?? curlLike(record, url)
  return (
    <>
      {curl === null ? null : <CopyButton small={false} text={curl} label="Copy as curl" />}
      {record.state === 'admitted' ? null : <ReplayButton record={record} />}
      <ExplainNow record={record} />
      {record.key === null ? null : (
        <Link className="button button-plain" to="/keys/$key" params={{ key: record.key.id }} search={keepScope}>
          <KeyRound size={14} aria-hidden="true" />
          Open key
        </Link>
      )}
      <OpenRoute record={record} />
    </>
  )
}

/** A record has its route's model, not its ID: finds the route, if it still exists. */
function OpenRoute({ record }: { record: RequestRow }) {
  const { data = [], isPending } = useQuery(orpc.routes.list.queryOptions({ input: { all: true } }))
  const named = data.filter(({ model, project }) => model === record.route && project === record.project)
  // A route of the environment comes before one of all environments.
  const found =
    named.find(({ environment }) => environment === record.environment) ??
    named.find(({ environment }) => environment === null)
  // Its place is kept until it is known whether there still is one.
  if (isPending && record.route !== null)
    return (
      <Button disabled icon={<Waypoints size={14} aria-hidden="true" />}>
        Open route
      </Button>
    )
  if (found === undefined) return null
  return (
    <Link className="button button-plain" to="/routing/$route" params={{ route: found.id }} search={keepScope}>
      <Waypoints size={14} aria-hidden="true" />
      Open route
    </Link>
  )
}

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
