import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { orpc } from '../client/admin.ts'
import { Empty } from '../parts/index.ts'
import { absentProject, useScope } from '../session/scope.ts'

/** In place of an empty list (`children`) where the address names a project that is not there. */
export function NoProject({ list, children }: { list: '/keys' | '/routing'; children: ReactNode }) {
  const scope = useScope()
  const { data } = useQuery(orpc.projects.list.queryOptions({ input: {} }))
  const absent = absentProject(scope, data)
  if (absent === null) return children
  return (
    <Empty
      title={`No project is named ${absent}`}
      action={
        <Link to={list} search={{}}>
          All projects
        </Link>
      }
      command="spgw projects list"
    >
      The name may be misspelled, or the project has been removed.
    </Empty>
  )
}
