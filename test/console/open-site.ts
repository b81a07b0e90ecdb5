import { lazyDispatcher } from '../../src/admin/lazy-dispatcher.ts'
import type { ConsoleOptions } from '../../src/console/listener.ts'
import { mintLink } from '../../src/sign-in/links.ts'
import type { Grant, Operator } from '../../src/store/operators/operator-tables.ts'
import { startTestGateway } from '../admin/gateway.ts'
import { password, sampleOperator } from '../sign-in/sample-operator.ts'
import { askProvider } from '../support/ask-provider.ts'
import { type Answer, ask, sampleState, startListener } from './open-listener.ts'

export { password }
/** The cookie that an answer sets, or forgets. */
export const cookiesOf = ({ headers }: Answer) => headers['set-cookie'] ?? []
export const cookieOf = (answer: Answer) => (cookiesOf(answer)[0] ?? '').split(';', 1)[0] ?? ''

/** A console with everything real behind it but the data plane. */
export async function openSite(options: Partial<ConsoleOptions> = {}) {
  const gateway = await startTestGateway()
  const { store, keyring } = gateway.parts
  const listener = await startListener(options)
  const dispatcher = lazyDispatcher({ ...gateway.parts, onWrite: () => listener.recheck() })
  listener.open({
    state: async () => sampleState(),
    openApi: async () => ({}),
    signIn: { store, keyring, askProvider },
    dispatcher,
    confirmReach: async () => null,
  })
  const origin = `http://localhost:${listener.port}`
  const url = `http://127.0.0.1:${listener.port}`
  const headersOf = (cookie: string) => ({
    host: `localhost:${listener.port}`,
    origin,
    'sec-fetch-site': 'same-origin',
    'content-type': 'application/json',
    ...(cookie === '' ? {} : { cookie }),
  })
  const post = (path: string, body: object, cookie = '', headers: Record<string, string> = {}) =>
    ask(url + path, { method: 'POST', headers: { ...headersOf(cookie), ...headers }, body: JSON.stringify(body) })
  const get = (path: string, cookie = '') => ask(url + path, { headers: headersOf(cookie) })
  const addOperator = async (name: string, grants: Grant[] = [{ project: null, role: 'owner' }]): Promise<Operator> =>
    await store.operators.insert(await sampleOperator(name, { grants }))
  /** Signs in by a link, which costs no hashing; gives the cookie. */
  const enter = async ({ id }: Operator) => {
    const { path } = await mintLink(store, id)
    return cookieOf(await post('/auth/link', { token: path.replace('/link/', '') }))
  }
  return { ...gateway, listener, origin, url, headersOf, post, get, addOperator, enter }
}
