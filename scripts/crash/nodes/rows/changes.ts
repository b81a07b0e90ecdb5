import { Secret, TOTP } from 'otpauth'
import { cookieOf, visitConsole } from '../../../../test/support/console-visitor.ts'
import type { FaultRow } from '../fault-row.ts'
import type { NodeScene } from '../node-scene.ts'

export const changes: FaultRow = {
  name: 'changes',
  fault: 'changes on three nodes at once, names that change places, a link and a code taken on all',
  counts: 'changes of each node',
  usual: 30,
  async run(scene, { times }) {
    scene.begin()
    const results = await Promise.all(
      scene.nodes.flatMap((node) =>
        Array.from({ length: times }, async (_, number) => [
          await scene.addProject(node, `${node.name}-${number}`),
          await scene.addProject(node, `wanted-${number}`),
        ]),
      ),
    )
    const [own, wanted] = [0, 1].map((place) => results.filter((made) => made[place]).length)
    if (own !== times * scene.nodes.length) scene.problem(`${own} changes of ${times * scene.nodes.length} were made`)
    if (wanted !== times) scene.problem(`${wanted} projects have ${times} names`)
    await swapNames(scene)
    return {
      changes: (own ?? 0) + (wanted ?? 0),
      'a link on three nodes': await takeLink(scene),
      ...(await takeCode(scene)),
    }
  },
}

async function swapNames({ nodes }: NodeScene): Promise<void> {
  const [first, second] = nodes
  await first?.gateway.admin.projects.edit({ name: 'wanted-0', rename: 'aside' })
  await second?.gateway.admin.projects.edit({ name: 'wanted-1', rename: 'wanted-0' })
  await first?.gateway.admin.projects.edit({ name: 'aside', rename: 'wanted-1' })
}

async function takeLink(scene: NodeScene): Promise<string> {
  const [first] = scene.nodes
  const { url } = (await first?.gateway.admin.console.link({})) ?? { url: '' }
  await scene.cluster.converge()
  const token = url.split('/link/')[1] ?? ''
  const answers = await Promise.all(
    scene.nodes.map(({ gateway }) => visitConsole(gateway).post('/auth/link', { token })),
  )
  return expectOnce(
    scene,
    'a link',
    answers.map(({ status }) => status),
  )
}

const password = 'correct horse battery'

/** A code signs in once, wherever. */
async function takeCode(scene: NodeScene): Promise<Record<string, string>> {
  const [first] = scene.nodes
  if (first === undefined) throw new Error('there is no node')
  const visitor = visitConsole(first.gateway)
  const owner = await visitor.enter()
  await visitor.post('/auth/account/password', { next: password }, owner)
  const { secret } = JSON.parse((await visitor.post('/auth/account/totp', {}, owner)).body)
  const codeAt = (shift: number) =>
    new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + shift })
  const confirmed = await visitor.post('/auth/account/totp/confirm', { code: codeAt(0) }, owner)
  if (confirmed.status !== 200) scene.problem(`an authenticator cannot be added: ${confirmed.body}`)
  await scene.cluster.converge()
  const code = codeAt(30_000)
  const answers = await Promise.all(
    scene.nodes.map(({ gateway }) => visitConsole(gateway).post('/auth/password', { name: 'owner', password, code })),
  )
  // Whoever is not let in is told so with 200 as well.
  const inside = answers.map((answer) => (cookieOf(answer) === '' ? 401 : 200))
  return { 'a code on three nodes': expectOnce(scene, 'a code', inside) }
}

function expectOnce(scene: NodeScene, what: string, statuses: readonly number[]): string {
  const taken = statuses.filter((status) => status < 300).length
  if (taken !== 1) scene.problem(`${what} was taken ${taken} times: ${statuses.join(', ')}`)
  return `${taken} time`
}
