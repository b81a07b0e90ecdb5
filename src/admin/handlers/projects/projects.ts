import { newId } from '../../../core/ids.ts'
import type { Environment, Project } from '../../../store/api.ts'
import { audited } from '../audited.ts'
import { operations } from '../base.ts'
import { confirmReach } from '../confirm-reach.ts'
import type { AdminContext } from '../context.ts'
import { conflict } from '../fault.ts'
import { findProject } from '../find.ts'
import { loadOwners, type Owners } from './owners.ts'

const show = (project: Project, environments: Environment[], owned: Owners) => ({
  id: project.id,
  name: project.name,
  environments: environments.filter(({ projectId }) => projectId === project.id).map(({ name }) => name),
  owned: owned(project.id),
  created_at: project.createdAt,
})
const resource = ({ id, name }: Project) => ({ kind: 'project', id, name })

async function load(context: AdminContext, name: string) {
  const project = await findProject(context, name)
  return {
    project,
    before: show(project, await context.store.environments.list(project.id), await loadOwners(context)),
  }
}

export const projects = {
  add: operations.projects.add.handler(async ({ context, input }) => {
    if ((await context.store.projects.find(input.name)) !== null)
      throw conflict(`The project ${input.name} already exists.`, 'Choose another name.')
    const project = { id: newId('prj'), name: input.name, createdAt: new Date().toISOString() }
    const after = show(project, [], () => ({}))
    const tables = audited(context, { operation: 'projects.add', resource: resource(project), before: null, after })
    await tables.projects.insert(project)
    await context.runtime.publish()
    return after
  }),
  list: operations.projects.list.handler(async ({ context }) => {
    const [all, environments, owned] = await Promise.all([
      context.store.projects.list(),
      context.store.environments.list(null),
      loadOwners(context),
    ])
    return all.map((project) => show(project, environments, owned))
  }),
  show: operations.projects.show.handler(async ({ context, input }) => (await load(context, input.name)).before),
  edit: operations.projects.edit.handler(async ({ context, input }) => {
    const { project, before } = await load(context, input.name)
    if (input.rename === undefined || input.rename === project.name) return before
    const after = { ...before, name: input.rename }
    const tables = audited(context, { operation: 'projects.edit', resource: resource(project), before, after })
    await tables.projects.update(project.id, { name: input.rename })
    await context.runtime.publish()
    return after
  }),
  remove: operations.projects.remove.handler(async ({ context, input }) => {
    const { project, before } = await load(context, input.name)
    const tables = audited(context, {
      operation: 'projects.remove',
      resource: resource(project),
      before,
      after: null,
    })
    await tables.projects.remove(project.id)
    await context.runtime.publish()
    return { id: project.id, name: project.name, removed: true as const, nodes: await confirmReach(context) }
  }),
}
